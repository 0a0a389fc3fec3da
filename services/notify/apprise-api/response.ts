import type { IncomingMessage } from 'node:http';
import type { Reply } from '../../kit/http/respond.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';
import {
  selectResponseFormat,
  detailsAsHtml,
  detailsAsText,
  type ResponseFormat,
  type DetailLine,
} from '../domain/response-format.ts';
import { getHeader } from './request.ts';

/** Returns the response format for the client of a request. */
export function getResponseFormat(request: IncomingMessage): ResponseFormat {
  return selectResponseFormat(getHeader(request, 'accept'), getHeader(request, 'content-type'));
}

/** Builds a reply with JSON, whose type has no charset, as in Apprise API. */
export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

/** Builds a reply with text. */
export function textReply(status: number, text: string, type = 'text/plain; charset=utf-8'): Reply {
  return { status, headers: { 'Content-Type': type }, body: text };
}

/** Reply without a body, as Apprise API sends it for every format. */
export const emptyReply: Reply = { status: 204 };

/** Builds `{"error": …}` or the sentence as text; null means success, which text clients get as `success`. */
export function sentenceReply(
  request: IncomingMessage,
  status: number,
  error: string | null,
  options: { readonly success?: string; readonly details?: readonly DetailLine[] } = {},
): Reply {
  const { success = '', details } = options;
  if (getResponseFormat(request) !== 'json') return textReply(status, error ?? success);
  return jsonReply(status, details === undefined ? { error } : { error, details });
}

/** Builds the result of a notification with its detail lines in the format of the client. */
export function detailsReply(
  request: IncomingMessage,
  status: number,
  error: string | null,
  details: readonly DetailLine[],
): Reply {
  const format = getResponseFormat(request);
  if (format === 'json') return jsonReply(status, { error, details });
  if (format === 'html') return textReply(status, detailsAsHtml(details), 'text/html; charset=utf-8');
  return textReply(status, detailsAsText(details));
}

/** Builds the response of a Slack webhook: `ok` as text, or the fields that Slack clients expect in JSON. */
export function slackReply(request: IncomingMessage, details: readonly DetailLine[]): Reply {
  const isJson = selectResponseFormat(getHeader(request, 'accept'), undefined) === 'json';
  return isJson ? jsonReply(200, { ok: true, error: null, details }) : textReply(200, 'ok', 'text/plain');
}

/** Builds a reply with a stored configuration, unchanged. */
export function configurationReply(request: IncomingMessage, { format, text }: WrittenConfiguration): Reply {
  if (getResponseFormat(request) === 'json') return jsonReply(200, { format, config: text });
  return textReply(200, text, `text/${format === 'yaml' ? 'yaml' : 'plain'}; charset=utf-8`);
}
