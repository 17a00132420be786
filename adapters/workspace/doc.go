// Package workspace keeps workflow documents as files in a private directory, so that people and their tools can work on
// them too. Every path is walked name by name from the directory; links are neither followed nor created. A replaced text
// stays under `.revisions/<path>/<time>-<sha256>`; who saved a text stands under the same name in `.authors`.
package workspace
