import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Log } from '../../services/contracts/service.ts';
import { openDatabase, type Database } from '../../main/host/database/open.ts';
import { silentLog, type Place } from './place.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

/** Opens the database at a place, or a new and empty one; closed after the test. */
export type Open = (place?: Place, log?: Log) => Promise<Database>;

/**
 * Runs the same tests on SQLite and on a real PostgreSQL, which is shared by a file's tests; each place is a schema of
 * its own there.
 */
export function eachDialect(
  define: (name: Database['dialect'], open: Open, newPlace: () => Place, server: () => PostgresServer) => void,
): void {
  describe.each(['sqlite', 'postgres'] as const)('on %s', (name) => {
    let server: PostgresServer | undefined;
    let opened = new AsyncDisposableStack();
    let schemas = 0;

    if (name === 'postgres') {
      beforeAll(async () => {
        server = await startPostgres();
      });
      afterAll(() => server?.[Symbol.asyncDispose]());
    }
    afterEach(async () => {
      const stack = opened;
      opened = new AsyncDisposableStack();
      await stack.disposeAsync();
    });

    const newPlace = (): Place => {
      const folder = mkdtempSync(join(tmpdir(), 'database-'));
      opened.defer(() => rmSync(folder, { recursive: true, force: true }));
      schemas += 1;
      return { folder, schema: `test_${schemas}`, ...(server === undefined ? {} : { url: server.url }) };
    };
    const open: Open = async (place = newPlace(), log = silentLog) => opened.use(await openDatabase({ ...place, log }));
    const running = (): PostgresServer => {
      if (server === undefined) throw new Error('there is no server on SQLite');
      return server;
    };
    define(name, open, newPlace, running);
  });
}
