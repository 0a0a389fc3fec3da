import * as m from '#messages/data-problems';
import type { Problem } from '../../contracts/problem.ts';

/** Codes of problems whose details contain names and statements for the server's administrator. */
const internalCodes = new Set(['data.missing_rights', 'data.not_prepared', 'data.old_server']);

/** Returns the detail of a problem that any holder of an API key may read. */
export function getPublicDetail({ code, detail }: Problem): string {
  return internalCodes.has(code) ? m.databaseNotReady() : detail;
}
