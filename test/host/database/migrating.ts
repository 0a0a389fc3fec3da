// Started by migrate.test.ts as a separate process: migrates, and hangs in the middle of the second step.
import { openDatabase } from '../../../main/host/database/open.ts';
import { silentLog, type DatabaseLocation } from '../../support/database-location.ts';

const location = JSON.parse(process.argv[2] ?? '{}') as DatabaseLocation;
const database = await openDatabase({ ...location, log: silentLog });
await database.migrate([
  { name: '001', up: async (db) => db.schema.createTable('one').addColumn('a', 'integer').execute() },
  {
    name: '002',
    async up(db) {
      await db.schema.createTable('two').addColumn('a', 'integer').execute();
      await db.insertInto('one').values({ a: 2 }).execute();
      process.stdout.write('in the middle\n');
      await new Promise(() => setInterval(() => undefined, 60_000));
    },
  },
]);
