# One image for every program of Genlock; docker-compose.yml or the command line says which one runs.

FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The build is a step of its own, so that a change of a source does not install everything again.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY examples examples
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:20-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY migrations migrations
COPY --from=build /app/dist dist
# Everything above belongs to root and is read only to the program. The signing keys live here.
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/genlock
VOLUME /var/lib/genlock
USER node
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/bin/genlock.js"]
CMD ["api"]
