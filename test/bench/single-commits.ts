import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';

const commits = 400;

/** Measures single-row commits per second in an SQLite file with the durability of the host. */
function commitsPerSecond(folder: string): number {
  const database = new Database(join(folder, `commits-${process.pid}.sqlite`));
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.exec('CREATE TABLE rows (text TEXT)');
    const insert = database.prepare('INSERT INTO rows VALUES (?)');
    const started = performance.now();
    for (let row = 0; row < commits; row += 1) insert.run('x'.repeat(200));
    return commits / ((performance.now() - started) / 1000);
  } finally {
    database.close();
  }
}

// Runs in a separate process, so that it can receive the environment of the host as well.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(commitsPerSecond(process.argv[2] ?? '.'));
