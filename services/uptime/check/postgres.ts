import { beatStatus } from '../../contracts/uptime/monitor.ts';
import { connectTo } from './connect.ts';
import { CheckFailure } from './failure.ts';
import type { Found, ProbeOrder } from './probe.ts';

/** PostgreSQL: somebody may sign in by the connection string, and the query succeeds. It may only read. */
export async function probePostgres({ config, signal }: ProbeOrder): Promise<Found> {
  const { databaseConnectionString: given } = config;
  const text = typeof given === 'string' ? given : '';
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) throw new CheckFailure('The connection string begins with postgres://'); // prettier-ignore
  // Loaded by the first of these: most have none.
  const { default: pg } = await import('pg');
  const stream = await connectTo({ host: url.hostname || 'localhost', port: Number(url.port || 5432), signal });
  const client = new pg.Client({
    connectionString: text,
    stream: () => stream,
    options: '-c default_transaction_read_only=on',
  });
  const abort = (): void => void stream.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', abort, { once: true });
  // What comes after the answer is nobody's news.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const query = config['databaseQuery'];
    const { rowCount } = await client.query(typeof query === 'string' && query.trim() !== '' ? query : 'SELECT 1');
    return { status: beatStatus.up, msg: `Rows: ${String(rowCount ?? 0)}` };
  } catch (error) {
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', abort);
    stream.destroy();
  }
}
