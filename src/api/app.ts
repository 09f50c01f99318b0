/** The HTTP API as an application that somebody else lets listen. Every port is an argument. */
import express, { type ErrorRequestHandler, type Express } from 'express';
import helmet from 'helmet';
import { docsPage, STYLE_SOURCE } from './docsPage.js';
import { mountRoute, sendNoSuchRoute } from './mount.js';
import { openApiDocument, ROUTES } from './openApi.js';
import { type AppDeps, createServices } from './services.js';

/** @returns an Express application; whoever lets it listen decides where */
export const createApp = (deps: AppDeps): Express => {
  const services = createServices(deps);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  for (const route of ROUTES) {
    app[route.method](route.path.replaceAll(/\{(\w+)\}/g, ':$1'), mountRoute(route, services));
  }
  mountDocument(app, deps.version);
  app.use((request, response) => sendNoSuchRoute(services, request, response));
  // Express tells an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error, request, response, _next) =>
    sendNoSuchRoute(services, request, response, error);
  app.use(onError);
  return app;
};

/** The document and its page, the only one a browser shows: helmet stands here and nowhere else. */
const mountDocument = (app: Express, version: string): void => {
  const document = openApiDocument(version);
  const text = JSON.stringify(document);
  const page = docsPage(document);
  const headers = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'style-src': [STYLE_SOURCE],
        'frame-ancestors': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
  });
  app.get('/openapi.json', (_request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(text);
  });
  app.get('/docs', headers, (_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(page);
  });
};
