import * as m from '#messages/data-problems';
import type pg from 'pg';
import { Problem } from '../../contracts/problem.ts';

/** Formats an error of PostgreSQL as sentences. */
export function formatRefusal({
  message,
  detail,
}: {
  readonly message: string;
  readonly detail?: string | null | undefined;
}): string {
  return [message, ...(detail === undefined || detail === null ? [] : [detail])]
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ');
}

/**
 * Creates the error of a statement that PostgreSQL rejected: `data.refused` (409).
 *
 * @param fields inputs that caused it, with their messages
 */
export function createRefusal(error: pg.DatabaseError, fields: Readonly<Record<string, string>> = {}): Problem {
  const reason = formatRefusal(error);
  return new Problem('data.refused', 409, m.rejectedByPostgres({ reason }), { fields, cause: error });
}
