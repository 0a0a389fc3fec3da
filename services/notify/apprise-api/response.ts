import type { Request, Response } from 'express';
import type { WrittenConfiguration } from '../store/configurations.ts';
import {
  selectResponseFormat,
  detailsAsHtml,
  detailsAsText,
  type ResponseFormat,
  type DetailLine,
} from '../domain/response-format.ts';

/** The form the client of a request gets. */
export function getResponseFormat(request: Request): ResponseFormat {
  return selectResponseFormat(request.get('accept'), request.get('content-type'));
}

/** JSON without the charset that frameworks add: the peer sends none. */
export function sendJson(response: Response, status: number, value: unknown): void {
  response.status(status).setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(value));
}

function sendText(response: Response, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.status(status).setHeader('Content-Type', type);
  response.end(text);
}

/** The peer's 204 has no body whatever was asked for. */
export function sendNothing(response: Response): void {
  response.status(204).end();
}

/** `{"error": …}` or the sentence alone; null for success, which text clients read as `success`. */
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

/** The outcome of a notification: the lines of what happened, in the client's form. */
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

/** What Slack's webhooks answer, where nothing else is asked for; as JSON what its programs look for there. */
export function sendOk(request: Request, response: Response, details: readonly DetailLine[]): void {
  const isJson = selectResponseFormat(request.get('accept'), undefined) === 'json';
  if (isJson) sendJson(response, 200, { ok: true, error: null, details });
  else sendText(response, 200, 'ok', 'text/plain');
}

/** A stored configuration as it was given. */
export function sendConfiguration(request: Request, response: Response, configuration: WrittenConfiguration): void {
  const { format, text } = configuration;
  if (getResponseFormat(request) === 'json') sendJson(response, 200, { format, config: text });
  else sendText(response, 200, text, `text/${format === 'yaml' ? 'yaml' : 'plain'}; charset=utf-8`);
}
