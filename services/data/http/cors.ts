import type { IncomingMessage, ServerResponse } from 'node:http';

const exposedHeaders = [
  'Content-Range',
  'Content-Location',
  'Location',
  'Range-Unit',
  'Preference-Applied',
  'X-Total-Count',
  'Link',
  'Content-Profile',
  'Proxy-Status',
  'x-sb-error-code',
  'x-supabase-api-version',
].join(', ');
const allowedHeaders = [
  'authorization',
  'apikey',
  'content-type',
  'accept',
  'accept-profile',
  'content-profile',
  'prefer',
  'range',
  'range-unit',
  'x-client-info',
  'x-supabase-api-version',
  'x-retry-count',
  'x-requested-with',
].join(', ');

/** Allows pages of any origin to read responses; access is controlled by API keys. */
export function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return;
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', exposedHeaders);
}

export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const requestedHeaders = request.headers['access-control-request-headers'];
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  response.setHeader(
    'Access-Control-Allow-Headers',
    requestedHeaders !== undefined && requestedHeaders.length <= 2048 ? requestedHeaders : allowedHeaders,
  );
  // Chrome sends this header when a public page requests a private address.
  if (request.headers['access-control-request-private-network'] === 'true') {
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  }
  response.setHeader('Access-Control-Max-Age', '600');
  response.writeHead(200, { 'Content-Length': 0 }).end();
}
