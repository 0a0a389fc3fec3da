import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A client that speaks SMTP in bytes, so that it can say what no proper one would. */
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
    // A refused connection may be reset; the replies so far are what a test looks at.
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

  /** The lines of the next reply, joined; empty when the connection ended. */
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

  /** Greets, names sender and recipients and begins DATA. The last reply, `354` when all went well. */
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

  /** Ends a message begun with {@link begin}: its source, dots doubled, and the final dot. */
  finish(source: Uint8Array): Promise<string> {
    const text = Buffer.from(source).toString('latin1').replace(/^\./gm, '..');
    const end = text.endsWith('\r\n') ? '.\r\n' : '\r\n.\r\n';
    this.write(Buffer.from(text + end, 'latin1'));
    return this.reply();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Sends one mail; the reply to it. */
export async function submit(
  port: number,
  recipients: readonly string[],
  source: Uint8Array | string,
): Promise<string> {
  using client = await Client.open(port);
  const begun = await client.begin(recipients);
  return begun.startsWith('354') ? await client.finish(Buffer.from(source)) : begun;
}

/** Names of the files in the spool of a host. */
export function spoolFiles(dataDir: string): readonly string[] {
  return readdirSync(join(dataDir, 'mail', 'spool'));
}

/** Opens the gateway's own database beside the host. */
export function openMailDatabase(dataDir: string): Disposable & { readonly database: Database.Database } {
  const database = new Database(join(dataDir, 'mail', 'db.sqlite'));
  return { database, [Symbol.dispose]: () => void database.close() };
}

/** All sources a host keeps by the ids of their mails, rows and files. */
export function keptSources(dataDir: string): ReadonlyMap<string, Buffer> {
  using opened = openMailDatabase(dataDir);
  const rows = opened.database.prepare('select id, raw from sources').all() as { id: string; raw: Buffer }[];
  return new Map([
    ...rows.map(({ id, raw }) => [id, raw] as const),
    ...spoolFiles(dataDir).map(
      (name) => [name.slice(0, -'.eml'.length), readFileSync(join(dataDir, 'mail', 'spool', name))] as const,
    ),
  ]);
}
