import { once } from 'node:events';
import type { Socket } from 'node:net';
import type {
  SMTPServerAddress,
  SMTPServerAuthentication,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server';
import type { Clock, Log } from '../../contracts/service.ts';
import type { Envelope } from '../accept/envelope.ts';
import type { Sender, SignIn } from '../accept/sign-in.ts';
import type { Certificate } from './certificate.ts';
import { busyEvent, ConnectionServer } from './connection.ts';
import { Refusal } from '../accept/refusal.ts';

/** Handles accepted mails; the listener only implements SMTP. */
interface MailHandler {
  /**
   * Returns the address to be stored, without parts used for authorization.
   *
   * @throws Refusal for an unknown recipient, or one that the sender may not use
   */
  admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string>;
  /**
   * Receives a mail and resolves with its id once it is durable. The stream must be read to its end.
   *
   * @throws Refusal
   */
  receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string>;
}

/** Options that apply to open connections as soon as they change. */
export interface LiveListenerOptions {
  /** Bytes. */
  readonly maxSize: number;
  readonly maxRecipients: number;
  readonly maxClients: number;
  /** Milliseconds without input. */
  readonly idleMs: number;
  /** Returns true when a client at this address may connect. */
  readonly mayConnect: (remoteAddress: string) => boolean;
  readonly signIn: 'off' | 'optional' | 'required';
  /** True when addresses may contain tokens, so that a required sign-in is checked per recipient. */
  readonly acceptsTokens: boolean;
}

export interface ListenerOptions extends LiveListenerOptions {
  readonly hostName: string;
  readonly tls: 'off' | 'starttls' | 'required' | 'implicit';
  /** Called when a client is refused because of too many connections. */
  readonly onBusy: (remoteAddress: string) => void;
}

/** Returns the options of the SMTP library that may change while it runs. */
function changeableServerOptions(options: ListenerOptions) {
  return {
    size: options.maxSize,
    maxRecipients: options.maxRecipients,
    maxClients: options.maxClients,
    socketTimeout: options.idleMs,
    // STARTTLS requires a certificate and AUTH requires accounts; the last three are obsolete.
    disabledCommands: [
      ...(options.signIn === 'off' ? ['AUTH'] : []),
      ...(options.tls === 'off' || options.tls === 'implicit' ? ['STARTTLS'] : []),
      ...['WIZ', 'SHELL', 'KILL'],
    ],
    authOptional: options.signIn !== 'required' || options.acceptsTokens,
  };
}

/** Maximum duration of a connection, regardless of its activity. */
const maxConnectionMs = 30 * 60_000;
/** Time on shutdown for a mail in progress to complete. */
const shutdownTimeoutMs = 7_000;

/** Callback of the SMTP library; an error is sent to the client. */
type Callback = (error?: Error | null) => void;

/** SMTP listener: serves connections accepted by the host and closes them without losing a mail. */
export class Listener {
  readonly #mailHandler: MailHandler;
  readonly #signIn: SignIn;
  readonly #server: ConnectionServer;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #senders = new WeakMap<SMTPServerSession, Sender>();
  readonly #transfers = new Map<string, Promise<void>>();
  #options: ListenerOptions;
  #closing = false;

  constructor(mailHandler: MailHandler, signIn: SignIn, options: ListenerOptions, clock: Clock, log: Log) {
    this.#mailHandler = mailHandler;
    this.#signIn = signIn;
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
    this.#server = new ConnectionServer({
      name: options.hostName,
      banner: 'Homeport',
      ...changeableServerOptions(options),
      rejectOversized: true,
      authMethods: ['PLAIN', 'LOGIN'],
      secure: options.tls === 'implicit',
      // A DNS look-up would delay every connection.
      disableReverseLookup: true,
      // Much firmware sends slightly malformed addresses.
      lenientAddressParsing: true,
      hideENHANCEDSTATUSCODES: false,
      logger: false,
      onConnect: (session, callback) => this.#handleConnect(session, callback),
      onAuth: (credentials, session, callback) => this.#handleAuth(credentials, session, callback),
      onMailFrom: (_address, session, callback) => this.#handleSender(session, callback),
      onRcptTo: (recipient, session, callback) => this.#handleRecipient(recipient, session, callback),
      onData: (stream, session, callback) => this.#handleData(stream, session, callback),
    });
    this.#server.on(busyEvent, options.onBusy);
    this.#server.on('error', (error: Error) => log.debug('connection failed', { error }));
  }

  /** Applies changed options. Open connections stay and use them from their next command. */
  reconfigure(changed: LiveListenerOptions): void {
    this.#options = { ...this.#options, ...changed };
    Object.assign(this.#server.options, changeableServerOptions(this.#options));
    this.#server.rearmIdleTimeouts();
  }

  /** Sets the certificate of new connections; encryption requires one before the first. */
  setCertificate(certificate: Certificate): void {
    this.#server.updateSecureContext(certificate);
  }

  /** Serves a connection accepted by the host; when `leaving` is aborted, it is closed once idle. */
  accept(socket: Socket, leaving?: AbortSignal): void {
    const timeout = this.#clock.after(maxConnectionMs, () => socket.destroy());
    const { remoteAddress, remotePort } = socket;
    const closeWhenIdle = (): void => {
      const connection = [...this.#server.connections].find(
        ({ session }) => session.remoteAddress === remoteAddress && session.remotePort === remotePort,
      );
      if (connection === undefined) return void socket.destroy();
      const { id } = connection.session;
      void Promise.resolve(this.#transfers.get(id)).then(() => this.#closeConnection(id));
    };
    leaving?.addEventListener('abort', closeWhenIdle);
    socket.once('close', () => {
      timeout[Symbol.dispose]();
      leaving?.removeEventListener('abort', closeWhenIdle);
    });
    this.#server.server.emit('connection', socket);
  }

  /** Number of connections. */
  get size(): number {
    return this.#server.connections.size;
  }

  /** Refuses new connections, closes idle ones with 421, and waits for mails in progress. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const { session } of this.#server.connections) {
      if (!this.#transfers.has(session.id)) this.#closeConnection(session.id);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timeout = this.#clock.after(shutdownTimeoutMs, resolve);
    await Promise.race([Promise.all(this.#transfers.values()), promise]);
    for (const { session } of this.#server.connections) this.#closeConnection(session.id);
  }

  #handleConnect({ remoteAddress }: SMTPServerSession, callback: Callback): void {
    if (this.#closing) callback(new Refusal(421, '4.3.2 Shutting down, try again in a moment'));
    else callback(this.#options.mayConnect(remoteAddress) ? null : new Refusal(554, '5.7.1 Not from this network'));
  }

  #handleAuth(
    { username, password }: SMTPServerAuthentication,
    session: SMTPServerSession,
    callback: Parameters<NonNullable<SMTPServerOptions['onAuth']>>[2],
  ): void {
    this.#signIn.check(username ?? '', password ?? '', session.remoteAddress).then(
      (sender) => {
        this.#senders.set(session, sender);
        callback(null, { user: username });
      },
      (error: unknown) => {
        if (!(error instanceof Refusal)) this.#log.error('sign-in check failed', { error });
        callback(error instanceof Refusal ? error : new Refusal(454, 'Temporary failure, try again later'));
      },
    );
  }

  #handleSender({ secure }: SMTPServerSession, callback: Callback): void {
    const isUnencrypted = this.#options.tls === 'required' && !secure;
    callback(isUnencrypted ? new Refusal(530, 'Encrypt the connection with STARTTLS first') : null);
  }

  #handleRecipient(recipient: SMTPServerAddress, session: SMTPServerSession, callback: Callback): void {
    const sender = session.user === undefined ? undefined : this.#senders.get(session);
    this.#mailHandler.admit(recipient.address, sender, session.remoteAddress).then(
      (admitted) => {
        // The library keeps this object in the envelope.
        recipient.address = admitted;
        callback(null);
      },
      (error: unknown) => {
        if (!(error instanceof Refusal)) this.#log.error('recipient check failed', { error });
        callback(error instanceof Refusal ? error : new Refusal(451, 'Temporary failure, try again later'));
      },
    );
  }

  #handleData(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    callback: Parameters<NonNullable<SMTPServerOptions['onData']>>[2],
  ): void {
    const work = this.#receive(stream, session).then(
      (id) => callback(null, `queued as ${id}`),
      (error: unknown) => {
        if (!(error instanceof Refusal)) this.#log.error('mail receipt failed', { error });
        callback(error instanceof Refusal ? error : new Refusal(451, 'Temporary failure, try again later'));
      },
    );
    this.#transfers.set(session.id, work);
    void work.finally(() => {
      this.#transfers.delete(session.id);
      if (this.#closing) this.#closeConnection(session.id);
    });
  }

  #closeConnection(sessionId: string): void {
    for (const connection of this.#server.connections) {
      if (connection.session.id === sessionId) connection.send(421, 'Shutting down, try again in a moment', false);
    }
  }

  async #receive(stream: SMTPServerDataStream, { envelope, remoteAddress }: SMTPServerSession): Promise<string> {
    const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const recipients = envelope.rcptTo.map(({ address }) => address);
    try {
      return await this.#mailHandler.receive({ sender, recipients, remoteAddress }, stream);
    } finally {
      // The reply must follow the end of the data; otherwise the rest would be parsed as commands.
      if (!stream.readableEnded && !stream.destroyed) {
        stream.resume();
        await Promise.race([once(stream, 'end'), once(stream, 'close')]);
      }
    }
  }
}
