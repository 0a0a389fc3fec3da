import type { Problem } from '../../contracts/problem.ts';

/** They name the user, the database and statements for its administrator. */
const ofTheInside = new Set(['data.missing_rights', 'data.not_prepared', 'data.old_server']);

/** The sentence of a problem as whoever has a key of an app may read it. */
export function publicDetail({ code, detail }: Problem): string {
  return ofTheInside.has(code) ? 'The database is not ready.' : detail;
}
