import pg from 'pg';
import type { Connection, Transport } from './transport.ts';

const channel = 'homeport_relay';
/** PostgreSQL refuses payloads of 8000 bytes and more. */
const maxFrameLength = 7900;
/** Maximum number of frames in one statement. */
const maxBatchSize = 100;
const timeoutMs = 5000;
const closeTimeoutMs = 2000;
const sendStatement = `select pg_notify('${channel}', payload) from unnest($1::text[]) with ordinality as f(payload, n) order by n`;

/** Creates a transport over LISTEN and NOTIFY, with a separate connection to the database that the hosts share. */
export function createPostgresTransport(url: string): Transport {
  return {
    kind: 'postgres',
    maxFrameLength,
    async connect(receive) {
      const client = new pg.Client({
        connectionString: url,
        application_name: 'homeport relay',
        keepAlive: true,
        connectionTimeoutMillis: timeoutMs,
        query_timeout: timeoutMs,
      });
      const connection = new PostgresConnection(client);
      client.on('notification', ({ payload = '' }) => receive(payload));
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
      } catch (error) {
        await connection[Symbol.asyncDispose]();
        throw error;
      }
      return connection;
    },
  };
}

class PostgresConnection implements Connection {
  readonly #client: pg.Client;
  readonly #closed = Promise.withResolvers<unknown>();
  #queue: string[] = [];
  #sending: Promise<void> | undefined;

  constructor(client: pg.Client) {
    this.#client = client;
    client.on('error', (error) => this.#closed.resolve(error));
    client.on('end', () => this.#closed.resolve(undefined));
  }

  get closed(): Promise<unknown> {
    return this.#closed.promise;
  }

  send(frames: readonly string[]): void {
    this.#queue.push(...frames);
    this.#sending ??= this.#sendQueue();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.resolve(undefined);
    // Sends what is queued, unless the server does not respond.
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(() => timeout.resolve(), closeTimeoutMs);
    await Promise.race([this.#sending, timeout.promise]);
    // A query that is still active would be dropped.
    await Promise.race([this.#client.end().catch(() => undefined), timeout.promise]);
    clearTimeout(timer);
  }

  async #sendQueue(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue.slice(0, maxBatchSize);
        this.#queue = this.#queue.slice(maxBatchSize);
        await this.#client.query(sendStatement, [batch]);
      }
    } catch (error) {
      this.#queue = [];
      this.#closed.resolve(error);
    } finally {
      this.#sending = undefined;
    }
  }
}
