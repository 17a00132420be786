# The image of one server. Build it where the sources are:
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) --build-arg CREATED=$(git log -1 --format=%cI) -t aion .

FROM golang:1.26-alpine AS build
RUN apk add --no-cache gcc musl-dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=0.1.0-dev
ARG REVISION=
ARG CREATED=
# SQLite is C: the C library is linked in, so that the binary needs nothing of the image that it runs in.
RUN CGO_ENABLED=1 go build -trimpath -tags osusergo,netgo,sqlite_omit_load_extension \
      -ldflags "-s -w -buildid= -linkmode external -extldflags -static -X aion/bootstrap.version=$VERSION -X aion/bootstrap.commit=$REVISION -X aion/bootstrap.builtAt=$CREATED" \
      -o /aion ./cmd/aion

FROM alpine:3.22
# What declared commands may expect: a shell, coreutils, certificates. tini reaps what they leave behind.
RUN apk add --no-cache ca-certificates coreutils tini \
 && mkdir /data && chmod 1777 /data
COPY --from=build /aion /usr/local/bin/aion
ARG VERSION=0.1.0-dev
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="aion" \
      org.opencontainers.image.description="A durable workflow server for AI agents and the people who run them" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="aion" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
ENV AION_HOME=/data/aion AION_SERVER_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["aion", "doctor", "--ready", "--quiet"]
ENTRYPOINT ["/sbin/tini", "--", "/usr/local/bin/aion"]
CMD ["server"]
