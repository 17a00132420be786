// The official TypeScript client against aion, over HTTP and over the bridge (mcp 97, server 3.5).
//
//   node suite.mjs URL FIXTURE PROGRAM DOCUMENT
//
// URL is the endpoint of aion, FIXTURE that of the fixture of the transport, PROGRAM the binary whose bridge is launched,
// and DOCUMENT a workflow that takes a name. It prints one line per claim and ends with status 0 when all hold.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [url, fixture, program, file] = process.argv.slice(2);
if (!file) {
	console.error('usage: node suite.mjs URL FIXTURE PROGRAM DOCUMENT');
	process.exit(2);
}
const source = await readFile(file, 'utf8');
const namespace = 'default';

const overHTTP = (to) => new StreamableHTTPClientTransport(new URL(to));
const overBridge = (to) =>
	new StdioClientTransport({ command: program, args: ['mcp', 'bridge', '--url', to], env: { ...process.env }, stderr: 'ignore' });

// The ways in which a client can be set up, and the revision that it must agree on.
const ways = [
	['http, auto', overHTTP, { mode: 'auto' }, '2026-07-28'],
	['http, pinned', overHTTP, { mode: { pin: '2026-07-28' } }, '2026-07-28'],
	['bridge, legacy', overBridge, undefined, '2025-11-25'],
	['bridge, auto', overBridge, { mode: 'auto' }, '2026-07-28'],
	['bridge, pinned', overBridge, { mode: { pin: '2026-07-28' } }, '2026-07-28']
];

async function connected(transport, versionNegotiation, use) {
	const client = new Client({ name: 'aion-typescript', version: '1' }, versionNegotiation ? { versionNegotiation } : {});
	await client.connect(transport);
	try {
		await use(client);
	} finally {
		await client.close();
	}
}

async function must(client, name, args, options) {
	const result = await client.callTool({ name, arguments: args }, options);
	assert.ok(!result.isError, `${name} is refused: ${JSON.stringify(result.content)}`);
	assert.ok(result.structuredContent, `${name} has no structured content`);
	return result.structuredContent;
}

async function refusal(client, name, args) {
	const result = await client.callTool({ name, arguments: args });
	assert.equal(result.isError, true, `${name} is served`);
	assert.equal(result.content.length, 2);
	const words = JSON.parse(result.content[1].text);
	assert.equal(words.message, result.content[0].text);
	return words;
}

async function ended(client, workflow_id) {
	for (;;) {
		const run = await must(client, 'describe_run', { namespace, workflow_id });
		if (run.status !== 'Running') return;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

const claims = {
	// List, check (bad, then good), save, read, deploy with progress, start, describe, transcript, history.
	async loop(client, revision, way) {
		const word = way.replace(', ', '_');
		assert.equal(client.getNegotiatedProtocolVersion(), revision);
		assert.match(client.getInstructions(), /describe_run/);
		assert.equal(client.getServerVersion().name, 'aion');
		const { tools } = await client.listTools();
		assert.equal(tools.length, 13);
		const type = `hello_${word}`;
		const text = source.replace('workflow hello', `workflow ${type}`);
		const path = `${type}.awl`;
		const bad = await must(client, 'check_document', { source: text.replace('route greeted', 'route gretted') });
		assert.equal(bad.deploys_green, false);
		assert.ok(bad.diagnostics.length > 0);
		assert.equal((await must(client, 'check_document', { source: text })).deploys_green, true);
		const saved = await must(client, 'save_document', { path, source: text });
		const read = await must(client, 'read_document', { path });
		assert.equal(read.source, text);
		assert.equal(read.content_hash, saved.content_hash);
		const progress = [];
		const deployed = await must(client, 'deploy_document', { path, content_hash: saved.content_hash }, { onprogress: (p) => progress.push(p.progress) });
		if (way.startsWith('http')) {
			// On stdio this client drops what comes in one piece with the answer; cancellation shows progress there.
			assert.ok(progress.length > 0, 'no progress');
		}
		assert.deepEqual(progress, [...new Set(progress)].sort((a, b) => a - b), 'progress does not rise');
		assert.equal(deployed.deployment.workflow_type, type);
		const { workflow_id } = await must(client, 'start_run', { namespace, workflow_type: type, input: { name: 'Ada' } });
		await ended(client, workflow_id);
		const run = await must(client, 'describe_run', { namespace, workflow_id });
		assert.equal(run.status, 'Completed');
		assert.equal(run.result.stdout, 'hello Ada');
		const { activity_id, attempt, run_id } = run.transcripts[0];
		const transcript = await must(client, 'read_transcript', { namespace, workflow_id, run_id, activity_id, attempt });
		assert.equal(transcript.events[0].text, 'hello Ada');
		const history = await must(client, 'read_history', { namespace, workflow_id });
		assert.equal(history.events.at(-1).type, 'WorkflowCompleted');
	},

	// Refusals are results with both blocks, protocol errors have their code; the connection survives them all.
	async refusals(client) {
		const nobody = '00000000-0000-7000-8000-000000000000';
		assert.equal((await refusal(client, 'describe_run', { namespace, workflow_id: nobody })).error_type, 'WorkflowNotFound');
		assert.equal((await refusal(client, 'read_document', { path: 'never/saved.awl' })).error_type, 'DocumentNotFound');
		assert.equal((await refusal(client, 'start_run', { namespace, workflow_type: 'nobody_deployed_this', input: {} })).error_type, 'WorkflowTypeNotFound');
		await assert.rejects(client.callTool({ name: 'describe_run', arguments: { runid: nobody } }), (e) => e.code === -32602 && /run_id/.test(e.message));
		await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), (e) => e.code === -32602);
		const awaited = { namespace, workflow_type: 'x', input: {}, await_completion: true };
		await assert.rejects(client.callTool({ name: 'start_run', arguments: awaited }), (e) => e.code === -32021);
		await must(client, 'list_runs', { namespace });
	}
};

// A call that never ends by itself is cancelled; the connection serves the next one.
async function cancellation(client) {
	const abort = new AbortController();
	const waiting = client.callTool({ name: 'wait', arguments: {} }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
	await assert.rejects(waiting);
	assert.equal(abort.signal.aborted, true, 'the call ended by itself');
	const next = await client.callTool({ name: 'test_simple_text', arguments: {} });
	assert.equal(next.content[0].type, 'text');
}

let failed = 0;
async function claim(name, holds) {
	try {
		await holds();
		console.log(`ok    ${name}`);
	} catch (error) {
		failed++;
		console.log(`FAIL  ${name}\n${error.stack ?? error}`);
	}
}

for (const [way, transport, negotiation, revision] of ways) {
	for (const [name, holds] of Object.entries(claims)) {
		await claim(`${way}: ${name}`, () => connected(transport(url), negotiation, (client) => holds(client, revision, way)));
	}
	await claim(`${way}: cancellation`, () => connected(transport(fixture), negotiation, cancellation));
}
await claim('http, legacy: refused by a message that names the revision', () =>
	assert.rejects(
		connected(overHTTP(url), undefined, () => {}),
		/2026-07-28/
	)
);
await claim('bridge, without a server: connects, and refuses calls with what to do', () =>
	connected(overBridge('http://127.0.0.1:1'), undefined, async (client) => {
		assert.equal((await client.listTools()).tools.length, 13);
		const words = await refusal(client, 'list_runs', { namespace });
		assert.equal(words.code, 'unavailable');
		assert.match(words.message, /127\.0\.0\.1:1.*aion server/);
	})
);
process.exit(failed === 0 ? 0 : 1);
