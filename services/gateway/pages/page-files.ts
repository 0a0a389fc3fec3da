import type { ServerResponse } from 'node:http';
import { readProductFont } from '../../kit/http/product-font.ts';
import { styleSheet } from './html.ts';
import { send } from './responses.ts';

/**
 * Sends a file that the pages of the gateway load.
 * @param path Path below the prefix of the gateway
 * @returns False when there is no such file.
 */
export async function sendPageFile(response: ServerResponse, path: string): Promise<boolean> {
  if (path === 'style.css') {
    send(response, { status: 200, type: 'text/css; charset=utf-8', body: styleSheet });
    return true;
  }
  if (path !== 'inter.woff2') return false;
  const headers = { 'Cache-Control': 'public, max-age=604800' };
  send(response, { status: 200, type: 'font/woff2', body: await readProductFont(), headers });
  return true;
}
