import type { Request, Response } from 'express';
import type { WrittenConfiguration } from '../store/configurations.ts';
import {
  selectResponseFormat,
  detailsAsHtml,
  detailsAsText,
  type ResponseFormat,
  type DetailLine,
} from '../domain/response-format.ts';

/** Returns the response format for the client of a request. */
export function getResponseFormat(request: Request): ResponseFormat {
  return selectResponseFormat(request.get('accept'), request.get('content-type'));
}

/** Sends JSON without the charset that frameworks add; Apprise API sends none. */
export function sendJson(response: Response, status: number, value: unknown): void {
  response.status(status).setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(value));
}

function sendText(response: Response, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.status(status).setHeader('Content-Type', type);
  response.end(text);
}

/** Sends 204 without a body, as Apprise API does for every format. */
export function sendNothing(response: Response): void {
  response.status(204).end();
}

/** Sends `{"error": …}` or the sentence as text; null means success, which text clients get as `success`. */
export function sendSentence(
  request: Request,
  response: Response,
  status: number,
  error: string | null,
  options: { readonly success?: string; readonly details?: readonly DetailLine[] } = {},
): void {
  const { success = '', details } = options;
  if (getResponseFormat(request) === 'json')
    sendJson(response, status, details === undefined ? { error } : { error, details });
  else sendText(response, status, error ?? success);
}

/** Sends the result of a notification with its detail lines in the format of the client. */
export function sendDetails(
  request: Request,
  response: Response,
  status: number,
  error: string | null,
  details: readonly DetailLine[],
): void {
  const format = getResponseFormat(request);
  if (format === 'json') sendJson(response, status, { error, details });
  else if (format === 'html') sendText(response, status, detailsAsHtml(details), 'text/html; charset=utf-8');
  else sendText(response, status, detailsAsText(details));
}

/** Sends the response of a Slack webhook: `ok` as text, or the fields that Slack clients expect in JSON. */
export function sendOk(request: Request, response: Response, details: readonly DetailLine[]): void {
  const isJson = selectResponseFormat(request.get('accept'), undefined) === 'json';
  if (isJson) sendJson(response, 200, { ok: true, error: null, details });
  else sendText(response, 200, 'ok', 'text/plain');
}

/** Sends a stored configuration unchanged. */
export function sendConfiguration(request: Request, response: Response, configuration: WrittenConfiguration): void {
  const { format, text } = configuration;
  if (getResponseFormat(request) === 'json') sendJson(response, 200, { format, config: text });
  else sendText(response, 200, text, `text/${format === 'yaml' ? 'yaml' : 'plain'}; charset=utf-8`);
}
