import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Log } from '../../services/contracts/service.ts';
import { openDatabase, type Database } from '../../main/host/database/open.ts';
import { silentLog, type DatabaseLocation } from './database-location.ts';
import { openPostgresDatabase, startPostgres, type PostgresServer } from './postgres.ts';

/** Opens the database at a location, or a new and empty one; closed after the test. */
export type Open = (location?: DatabaseLocation, log?: Log) => Promise<Database>;

/**
 * Runs the same tests on SQLite and on a real PostgreSQL server, on which the tests of a file share a database with a
 * separate schema for each location.
 */
export function eachDialect(
  define: (name: Database['dialect'], open: Open, createLocation: () => DatabaseLocation) => void,
): void {
  onEach(false, define);
}

/** Runs the same tests with a server that no other file uses, so that it can be stopped. */
export function eachDialectOnOwnServer(
  define: (
    name: Database['dialect'],
    open: Open,
    createLocation: () => DatabaseLocation,
    server: () => PostgresServer,
  ) => void,
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

    const createLocation = (): DatabaseLocation => {
      const folder = mkdtempSync(join(tmpdir(), 'database-'));
      opened.defer(() => rmSync(folder, { recursive: true, force: true }));
      schemas += 1;
      return { folder, schema: `test_${schemas}`, ...(url === undefined ? {} : { url }) };
    };
    const open: Open = async (location = createLocation(), log = silentLog) =>
      opened.use(await openDatabase({ ...location, log }));
    const running = (): PostgresServer => {
      if (server === undefined) throw new Error('there is no server of its own here');
      return server;
    };
    define(name, open, createLocation, running);
  });
}
