import { Problem } from '../../contracts/problem.ts';
import type { Answer, Call } from './call.ts';

export const defaultLimit = 30;
export const mostItems = 50;

export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly offset: number;
}

/** Which part of a list is asked for. */
export function pageOf(query: URLSearchParams, most = mostItems): Page {
  const page = Math.max(1, wholeNumber(query.get('page')) ?? 1);
  const asked = wholeNumber(query.get('limit')) ?? 0;
  const limit = asked <= 0 ? Math.min(defaultLimit, most) : Math.min(asked, most);
  return { page, limit, offset: (page - 1) * limit };
}

/** The headers of a list: how long it is, and where its other pages are. */
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

/** A part of a list that is there as a whole. */
export function partOf<Item>(items: readonly Item[], { offset, limit }: Page): readonly Item[] {
  return items.slice(offset, offset + limit);
}

export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const given = query.get(name);
  if (given === null || given === '') return undefined;
  return given === 'true' || given === '1';
}

/** @throws Problem (404) for what is no number of anything. */
export function numberOf(text: string | undefined): number {
  const number = wholeNumber(text ?? null);
  if (number === undefined || number <= 0) throw new Problem('git.unknown', 404, 'not found');
  return number;
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
