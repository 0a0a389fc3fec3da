import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { bracketed, inOneWord } from './lenient.ts';

/**
 * One SMTP connection, with habits of the library changed: it greets at once instead of waiting 100 ms for spammers that
 * talk too early, its status codes for an accepted and an oversize mail are those of other servers, and it understands
 * commands that are not quite right.
 */
class Connection extends SMTPConnection {
  /** While the answer to EHLO is written. */
  #isGreeting = false;
  /** Who waited for the end of the socket before the library knew of it: the host, and who handed it over. */
  readonly #waiting = this._socket.rawListeners('close') as (() => void)[];

  /** For STARTTLS the library takes all listeners off the socket, also those that are not its own. */
  override upgrade(...given: Parameters<SMTPConnection['upgrade']>): void {
    const socket = this._socket;
    super.upgrade(...given);
    for (const listener of this.#waiting) socket.on('close', listener);
  }

  /** Starts the idle timeout again, with the current option of the server. */
  rearmIdleTimeout(): void {
    this._socket.setTimeout(this._server.options.socketTimeout ?? 0);
  }

  override init(): void {
    this._setListeners(() => {
      const { maxClients = 0 } = this._server.options;
      if (maxClients > 0 && this._server.connections.size > maxClients) {
        this.send(421, '4.3.2 Too many connections, try again in a moment', false);
      } else {
        this.connectionReady();
      }
    });
  }

  override _parseAddressCommand(name: string, command: Buffer | string) {
    return super._parseAddressCommand(name, bracketed(command.toString()));
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#isGreeting = true;
    try {
      super.handler_EHLO(Buffer.from(inOneWord(command.toString())), callback);
    } finally {
      this.#isGreeting = false;
    }
  }

  /** A sign-in is offered only where it is accepted: before STARTTLS a client would send its password in the clear. */
  override _isSupported(command: string): boolean {
    const isSupported = super._isSupported(command);
    if (command !== 'AUTH' || !this.#isGreeting || this.secure) return isSupported;
    return isSupported && !super._isSupported('STARTTLS');
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    super.handler_HELO(Buffer.from(inOneWord(command.toString())), callback);
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code === 250 && context === 'DATA_OK') super.send(code, data);
    else if (code === 552) super.send(code, data, 'MESSAGE_TOO_BIG');
    // What says its own status needs no second one.
    else super.send(code, data, typeof data === 'string' && /^[245]\.\d\.\d /.test(data) ? false : context);
  }
}

/** An SMTP server that is given its connections; it opens no port. */
export class ConnectionServer extends SMTPServer {
  /** Applies a changed idle timeout to the connections that are open. */
  rearmIdleTimeouts(): void {
    for (const connection of this.connections) if (connection instanceof Connection) connection.rearmIdleTimeout();
  }

  override connect(socket: Socket | TLSSocket, socketOptions?: { readonly id?: string } | null): void {
    const connection = new Connection(this, socket, socketOptions ?? undefined);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.on('connect', (info: unknown) => this.emit('connect', info));
    connection.init();
  }
}
