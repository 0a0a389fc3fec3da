import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import Database from 'better-sqlite3';

/** SMTP client on byte level, which can also send malformed commands. */
export class Client implements Disposable {
  readonly #socket: Socket;
  #buffer = '';
  #ended = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#buffer += text;
      this.#wake();
    });
    // A refused connection may be reset; tests check the replies received before.
    socket.on('error', () => this.#end());
    socket.on('close', () => this.#end());
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }

  static async open(port: number): Promise<Client> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Client(socket);
  }

  /** Returns the lines of the next reply, joined; empty when the connection ended. */
  async reply(): Promise<string> {
    for (;;) {
      const reply = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(this.#buffer)?.[0];
      if (reply !== undefined) {
        this.#buffer = this.#buffer.slice(reply.length);
        return reply.trimEnd();
      }
      if (this.#ended) return '';
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  command(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** Greets, names sender and recipients and starts DATA. Returns the last reply, `354` on success. */
  async begin(recipients: readonly string[], sender = 'nas@example.com'): Promise<string> {
    await this.reply();
    await this.command('EHLO test');
    await this.command(`MAIL FROM:<${sender}>`);
    for (const recipient of recipients) {
      const reply = await this.command(`RCPT TO:<${recipient}>`);
      if (!reply.startsWith('250')) return reply;
    }
    return this.command('DATA');
  }

  /** Ends a message started with {@link begin}: its source with doubled dots, and the final dot. */
  finish(source: Uint8Array): Promise<string> {
    const text = Buffer.from(source).toString('latin1').replace(/^\./gm, '..');
    const terminator = text.endsWith('\r\n') ? '.\r\n' : '\r\n.\r\n';
    this.write(Buffer.from(text + terminator, 'latin1'));
    return this.reply();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Sends one mail and returns the reply. */
export async function submit(
  port: number,
  recipients: readonly string[],
  source: Uint8Array | string,
): Promise<string> {
  using client = await Client.open(port);
  const begun = await client.begin(recipients);
  return begun.startsWith('354') ? await client.finish(Buffer.from(source)) : begun;
}

/**
 * Returns the paths of files in the spool of a host, relative to the spool. Incomplete files are included, below the
 * folder of temporary files. The spool is created by the first large mail.
 */
export function spoolFiles(dataDir: string): readonly string[] {
  const spool = join(dataDir, 'mail', 'spool');
  if (!existsSync(spool)) return [];
  return readdirSync(spool, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(spool, join(parentPath, name)));
}

/** Opens the database of the mail service. */
export function openMailDatabase(dataDir: string): Disposable & { readonly database: Database.Database } {
  const database = new Database(join(dataDir, 'mail', 'db.sqlite'));
  return { database, [Symbol.dispose]: () => void database.close() };
}

/** Returns all stored sources by mail id, from rows and files. */
export function readSources(dataDir: string): ReadonlyMap<string, Buffer> {
  using opened = openMailDatabase(dataDir);
  const rows = opened.database.prepare('select id, raw from sources').all() as { id: string; raw: Buffer }[];
  return new Map([
    ...rows.map(({ id, raw }) => [id, raw] as const),
    ...spoolFiles(dataDir).map(
      (name) => [name.slice(0, -'.eml'.length), readFileSync(join(dataDir, 'mail', 'spool', name))] as const,
    ),
  ]);
}
