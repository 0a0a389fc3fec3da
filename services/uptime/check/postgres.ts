import type { ClientConfig } from 'pg';
import { heartbeatStatus, type MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { conditionsHold, hasConditions } from '../domain/conditions.ts';
import { openConnection } from './connect.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure } from './failure.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { limitBytesRead } from './read-limit.ts';

/** Maximum size of an answer. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** Supported parameters of the connection string. Parameters that name files or another server are rejected. */
const allowedParameters = new Set(['sslmode', 'application_name', 'connect_timeout', 'client_encoding']);
const certificateParameters = new Set(['sslrootcert', 'sslcert', 'sslkey']);

/** Signs in to PostgreSQL with the connection string and executes the query in a read-only transaction. */
export async function probePostgres({ config, signal }: CheckContext): Promise<CheckOutcome> {
  const { databaseConnectionString: connectionString } = config;
  const url = URL.parse(typeof connectionString === 'string' ? connectionString : '');
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw createSettingsFailure('postgres_address_invalid', {});
  }
  const options = buildClientOptions(url, config);
  // Loaded on first use.
  const { default: pg } = await import('pg');
  const stream = await openConnection({ host: url.hostname || 'localhost', port: Number(url.port || 5432), signal });
  const client = new pg.Client({ ...options, stream: () => stream });
  const destroyStream = (error: unknown): void => void stream.destroy(error instanceof Error ? error : undefined);
  const abort = (): void => destroyStream(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  // Errors after the result do not matter.
  client.on('error', () => undefined);
  let limitFailure: Error | undefined;
  using _limit = limitBytesRead(
    () => stream.bytesRead,
    maxAnswerBytes,
    (failure) => destroyStream((limitFailure = failure)),
  );
  try {
    await client.connect();
    const query = config['databaseQuery'];
    const result = await client.query({
      text: typeof query === 'string' && query.trim() !== '' ? query : 'SELECT 1',
      rowMode: 'array',
    });
    if (hasConditions(config.conditions)) {
      const value = getSingleValue(result.rows);
      if (!conditionsHold(config.conditions, { result: value }))
        throw new CheckFailure(`Query result did not meet the specified conditions (${value.slice(0, 200)})`);
      return { status: heartbeatStatus.up, msg: 'Query did meet specified conditions' };
    }
    const { rowCount } = result;
    return { status: heartbeatStatus.up, msg: `Rows: ${String(rowCount ?? 0)}` };
  } catch (error) {
    throw limitFailure ?? (signal.aborted && signal.reason instanceof Error ? signal.reason : error);
  } finally {
    signal.removeEventListener('abort', abort);
    stream.destroy();
  }
}

/**
 * Returns the single value that conditions compare.
 * @throws CheckFailure when the result does not have exactly one row and column
 */
function getSingleValue(rows: readonly (readonly unknown[])[]): string {
  const [row] = rows;
  if (row === undefined || row.length === 0) throw createTargetFailure('query_empty', {});
  if (rows.length > 1 || row.length > 1) throw createTargetFailure('query_ambiguous', {});
  const [value] = row;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Parses the connection string here, because the driver would open files and sockets that it names. */
function buildClientOptions(url: URL, config: MonitorConfig): ClientConfig {
  for (const [name, value] of url.searchParams) {
    if (allowedParameters.has(name)) continue;
    if (!certificateParameters.has(name)) {
      throw createSettingsFailure('parameter_unsupported', { name: name.slice(0, 50) });
    }
    if (!value.startsWith('-----BEGIN ')) {
      throw createSettingsFailure('parameter_names_file', { name });
    }
  }
  if (/%2f/i.test(url.hostname)) throw createSettingsFailure('socket_file_refused', {});
  const database = decodeURIComponent(url.pathname.slice(1));
  const applicationName = url.searchParams.get('application_name');
  return {
    host: url.hostname || 'localhost',
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username) || 'postgres',
    password: decodeURIComponent(url.password),
    ...(database === '' ? {} : { database }),
    ...(applicationName === null ? {} : { application_name: applicationName }),
    ssl: buildTlsOptions(url, config),
    options: '-c default_transaction_read_only=on',
  };
}

function buildTlsOptions(url: URL, config: MonitorConfig): ClientConfig['ssl'] {
  const { searchParams } = url;
  const mode = searchParams.get('sslmode') ?? '';
  const names = ['', 'disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'];
  if (!names.includes(mode)) throw createSettingsFailure('ssl_mode_unknown', { mode: mode.slice(0, 50) });
  if (['', 'disable', 'allow', 'prefer'].includes(mode)) return false;
  const ca = searchParams.get('sslrootcert') ?? config.tlsCa;
  const cert = searchParams.get('sslcert') ?? config.tlsCert;
  const key = searchParams.get('sslkey') ?? config.tlsKey;
  return {
    rejectUnauthorized: mode !== 'no-verify' && config.ignoreTls !== true,
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}
