import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { normalizeAddressCommand, joinHostName } from './lenient.ts';

/** Event of the server with the address of a client that was refused because of too many connections. */
export const busyEvent = 'busy';

/**
 * SMTP connection with changed library behavior: it greets immediately instead of delaying for 100 ms, uses the common
 * enhanced status codes for accepted and oversized mails, and accepts slightly malformed commands.
 */
class Connection extends SMTPConnection {
  /** True while the reply to EHLO is written. */
  #isGreeting = false;
  /** Close listeners attached before the library: those of the host and of the previous owner. */
  readonly #closeListeners = this._socket.rawListeners('close') as (() => void)[];

  /** The library removes all listeners from the socket for STARTTLS, including foreign ones, so they are restored. */
  override upgrade(...args: Parameters<SMTPConnection['upgrade']>): void {
    const socket = this._socket;
    super.upgrade(...args);
    for (const listener of this.#closeListeners) socket.on('close', listener);
  }

  /** Starts the idle timeout again, with the current option of the server. */
  rearmIdleTimeout(): void {
    this._socket.setTimeout(this._server.options.socketTimeout ?? 0);
  }

  override init(): void {
    this._setListeners(() => {
      const { maxClients = 0 } = this._server.options;
      if (maxClients > 0 && this._server.connections.size > maxClients) {
        this._server.emit(busyEvent, this.remoteAddress);
        this.send(421, '4.3.2 Too many connections, try again in a moment', false);
      } else {
        this.connectionReady();
      }
    });
  }

  override _parseAddressCommand(name: string, command: Buffer | string) {
    return super._parseAddressCommand(name, normalizeAddressCommand(command.toString()));
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#isGreeting = true;
    try {
      super.handler_EHLO(Buffer.from(joinHostName(command.toString())), callback);
    } finally {
      this.#isGreeting = false;
    }
  }

  /** Offers sign-in only where it is accepted: before STARTTLS, a client would send its password unencrypted. */
  override _isSupported(command: string): boolean {
    const isSupported = super._isSupported(command);
    if (command !== 'AUTH' || !this.#isGreeting || this.secure) return isSupported;
    return isSupported && !super._isSupported('STARTTLS');
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    super.handler_HELO(Buffer.from(joinHostName(command.toString())), callback);
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code === 250 && context === 'DATA_OK') super.send(code, data);
    else if (code === 552) super.send(code, data, 'MESSAGE_TOO_BIG');
    // Replies with their own status code need no second one.
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
