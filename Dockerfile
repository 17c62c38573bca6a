# syntax=docker/dockerfile:1
# Targets: api, worker. Each is one process, which ends by itself on SIGTERM.

FROM node:20.20.2-bookworm-slim AS base
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM base AS runtime
ENV NODE_ENV=production
# Private repositories are fetched by jobs, never here: nothing is needed beside Node.js and the certificates of public CAs.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json ./
RUN npm ci --omit=dev \
  && npm cache clean --force
COPY LICENSE ./
COPY cli/everdict.js ./cli/
COPY wrapper/wrapper.sh ./wrapper/
COPY --from=build /app/dist ./dist
RUN install --directory --owner=node --group=node /var/lib/everdict
ENV EVERDICT_STATE_DIR=/var/lib/everdict
USER node
STOPSIGNAL SIGTERM

FROM runtime AS api
ENV EVERDICT_HOST=0.0.0.0 PORT=8787
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/api/main.js"]

FROM runtime AS worker
ENV EVERDICT_METRICS_ADDRESS=127.0.0.1:9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://' + process.env.EVERDICT_METRICS_ADDRESS + '/metrics').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/workers/main.js"]
