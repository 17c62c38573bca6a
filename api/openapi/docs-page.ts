import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Files of Swagger UI that the page needs, by name, with their type. Nothing else of that folder is served. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const DEV_NOTICE = `
<p role="status" style="margin:0;padding:.6em 1em;background:#fff3cd;font-family:sans-serif"><strong>Development mode:</strong>
authentication is off, and whoever reaches this port may do everything.</p>`;

/** Everything comes from this server, so that the page works without internet. */
export const docsPage = (isDev: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Everdict API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>${isDev ? DEV_NOTICE : ''}
<div id="swagger-ui"><p>Loading the description of the API from <a href="/openapi.json">/openapi.json</a> …</p></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

export const DOCS_START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
});
`;

/** Scripts and styles of this server only; Swagger UI sets inline styles and embeds its icons. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src data:";

export interface Asset {
  type: string;
  bytes: Buffer;
}

export async function docsAsset(name: string): Promise<Asset | undefined> {
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  return type === undefined ? undefined : { type, bytes: await readFile(join(swaggerUiFolder(), name)) };
}

const require = createRequire(import.meta.url);

/** Swagger UI comes with @nestjs/swagger. */
function swaggerUiFolder(): string {
  const swagger = createRequire(require.resolve('@nestjs/swagger/package.json'));
  return dirname(swagger.resolve('swagger-ui-dist/package.json'));
}
