import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Log } from '../../services/contracts/service.ts';
import { openDatabase, type Database } from '../../main/host/database/open.ts';
import { silentLog, type Place } from './database-location.ts';
import { openPostgresDatabase, startPostgres, type PostgresServer } from './postgres.ts';

/** Opens the database at a place, or a new and empty one; closed after the test. */
export type Open = (place?: Place, log?: Log) => Promise<Database>;

/**
 * Runs the same tests on SQLite and on a real PostgreSQL server, on which the tests of a file share a database with a
 * separate schema for each location.
 */
export function eachDialect(define: (name: Database['dialect'], open: Open, newPlace: () => Place) => void): void {
  onEach(false, define);
}

/** The same, with a server that no other file uses, so that it can be ended. */
export function eachDialectOnOwnServer(
  define: (name: Database['dialect'], open: Open, newPlace: () => Place, server: () => PostgresServer) => void,
): void {
  onEach(true, define);
}

function onEach(ownServer: boolean, define: Parameters<typeof eachDialectOnOwnServer>[0]): void {
  describe.each(['sqlite', 'postgres'] as const)('on %s', (name) => {
    let server: PostgresServer | undefined;
    let url: string | undefined;
    const file = new AsyncDisposableStack();
    let opened = new AsyncDisposableStack();
    let schemas = 0;

    if (name === 'postgres') {
      beforeAll(async () => {
        if (ownServer) server = file.use(await startPostgres());
        url = server?.url ?? file.use(await openPostgresDatabase()).url;
      });
      afterAll(() => file.disposeAsync());
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
      return { folder, schema: `test_${schemas}`, ...(url === undefined ? {} : { url }) };
    };
    const open: Open = async (place = newPlace(), log = silentLog) => opened.use(await openDatabase({ ...place, log }));
    const running = (): PostgresServer => {
      if (server === undefined) throw new Error('there is no server of its own here');
      return server;
    };
    define(name, open, newPlace, running);
  });
}
