import { Problem } from '../../contracts/problem.ts';
import type { Answer, Call } from './call.ts';

export const defaultLimit = 30;
export const maxItems = 50;

export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly offset: number;
}

/** Parses the requested page of a list. */
export function parsePage(query: URLSearchParams, maxLimit = maxItems): Page {
  const page = Math.max(1, parseInteger(query.get('page')) ?? 1);
  const requestedLimit = parseInteger(query.get('limit')) ?? 0;
  const limit = requestedLimit <= 0 ? Math.min(defaultLimit, maxLimit) : Math.min(requestedLimit, maxLimit);
  return { page, limit, offset: (page - 1) * limit };
}

/** Builds the headers of a list: its length and links to other pages. */
export function listHeaders(
  { base, request, query }: Call,
  { page, limit }: Page,
  total: number,
): NonNullable<Answer['headers']> {
  const last = Math.max(1, Math.ceil(total / limit));
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const link = (to: number, rel: string): string => {
    const target = new URLSearchParams(query);
    target.set('page', String(to));
    return `<${base}${path}?${target.toString()}>; rel="${rel}"`;
  };
  const links = [
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first'), link(page - 1, 'prev')] : []),
  ];
  return {
    ...(links.length === 0 ? {} : { Link: links.join(',') }),
    'X-Total-Count': total,
    'Access-Control-Expose-Headers': `${links.length === 0 ? '' : 'Link, '}X-Total-Count`,
  };
}

/** Returns the items of one page. */
export function getPageItems<Item>(items: readonly Item[], { offset, limit }: Page): readonly Item[] {
  return items.slice(offset, offset + limit);
}

export function parseFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  return value === 'true' || value === '1';
}

/** Parses a positive number in a path. @throws Problem (404) */
export function parseId(text: string | undefined): number {
  const number = parseInteger(text ?? null);
  if (number === undefined || number <= 0) throw new Problem('git.unknown', 404, 'not found');
  return number;
}

function parseInteger(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
