import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { PassThrough } from 'node:stream';

/** Opens an SMTP client for dialogs that real clients would not hold; resolves after the greeting. */
export class SmtpDialogue implements Disposable {
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;

  private constructor(socket: Socket, lines: Interface) {
    this.#socket = socket;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  static async open(port: number): Promise<SmtpDialogue> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    // A killed server resets the connection; tests check for the missing reply.
    const input = new PassThrough();
    socket.on('error', () => undefined).on('close', () => input.end());
    const dialogue = new SmtpDialogue(socket, createInterface({ input: socket.pipe(input), crlfDelay: Infinity }));
    await dialogue.reply();
    return dialogue;
  }

  /** Returns the last line of the next reply, e.g. `250 2.0.0 queued`; empty when the connection ended. */
  async reply(): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) return '';
      if (!/^\d{3}-/.test(value)) return value;
    }
  }

  async command(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  /** Sends EHLO to the end of DATA and returns the reply to the message. */
  async send(to: string, subject: string, body: string): Promise<string> {
    await this.command('EHLO test');
    await this.command('MAIL FROM:<nas@example.org>');
    const recipient = await this.command(`RCPT TO:<${to}>`);
    if (!recipient.startsWith('250')) return recipient;
    await this.command('DATA');
    return this.command(`From: nas@example.org\r\nSubject: ${subject}\r\n\r\n${body}\r\n.`);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
