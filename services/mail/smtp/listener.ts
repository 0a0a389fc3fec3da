import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Clock, Log } from '../../contracts/service.ts';
import type { Sender, SignIn } from '../accept/sign-in.ts';
import type { Certificate } from './certificate.ts';
import { ConnectionServer } from './connection.ts';
import { Refusal } from './refusal.ts';

/** What happens with a mail; the listener only speaks SMTP. */
export interface Reception {
  /**
   * The address as it goes on, without what was only for admittance.
   * @throws Refusal for a recipient nobody configured, or that this sender may not send to
   */
  admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string>;
  /**
   * Takes a mail and resolves with its id once it is durable. The stream must be read to its end.
   * @throws Refusal
   */
  receive(envelope: Envelope, stream: SMTPServerDataStream): Promise<string>;
}

export interface Envelope {
  /** Empty for bounces. */
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly remoteAddress: string;
}

/** Options that apply to open connections as soon as they change. */
export interface LiveListenerOptions {
  /** Bytes. */
  readonly maxSize: number;
  readonly maxRecipients: number;
  readonly maxClients: number;
  /** ms without input. */
  readonly idleMs: number;
  /** Whether a client at this address may speak at all. */
  readonly mayConnect: (remoteAddress: string) => boolean;
  readonly signIn: 'off' | 'optional' | 'required';
  /** Addresses may hold tokens: whether a sign-in is needed is told only when there is a recipient. */
  readonly tokens: boolean;
}

export interface ListenerOptions extends LiveListenerOptions {
  readonly hostName: string;
  readonly tls: 'off' | 'starttls' | 'required' | 'implicit';
}

/** Returns the options of the SMTP library that may change while it runs. */
function changeableServerOptions(options: ListenerOptions) {
  return {
    size: options.maxSize,
    maxRecipients: options.maxRecipients,
    maxClients: options.maxClients,
    socketTimeout: options.idleMs,
    // STARTTLS needs a certificate, AUTH needs accounts; the last three are historical jokes.
    disabledCommands: [
      ...(options.signIn === 'off' ? ['AUTH'] : []),
      ...(options.tls === 'off' || options.tls === 'implicit' ? ['STARTTLS'] : []),
      ...['WIZ', 'SHELL', 'KILL'],
    ],
    authOptional: options.signIn !== 'required' || options.tokens,
  };
}

/** A connection may not live longer than this, however busily it trickles. */
const longestConnectionMs = 30 * 60_000;
/** At a stop, a mail that is being received has this long to come to its end. */
const graceMs = 7_000;

/** The SMTP side: gets its connections from the host, answers them, and closes them without losing a mail. */
export class Listener {
  readonly #server: ConnectionServer;
  readonly #clock: Clock;
  readonly #busy = new Map<string, Promise<void>>();
  #closing = false;

  #options: ListenerOptions;

  /** Applies changed options. Open connections stay: the next command of each is answered by the new options. */
  reconfigure(changed: LiveListenerOptions): void {
    this.#options = { ...this.#options, ...changed };
    Object.assign(this.#server.options, changeableServerOptions(this.#options));
    this.#server.rearmIdleTimeouts();
  }

  constructor(reception: Reception, signIn: SignIn, options: ListenerOptions, clock: Clock, log: Log) {
    this.#clock = clock;
    this.#options = options;
    const senders = new WeakMap<SMTPServerSession, Sender>();
    this.#server = new ConnectionServer({
      name: options.hostName,
      banner: 'Homeport',
      ...changeableServerOptions(options),
      rejectOversized: true,
      authMethods: ['PLAIN', 'LOGIN'],
      secure: options.tls === 'implicit',
      // A look into DNS would hold up every connection.
      disableReverseLookup: true,
      // Much firmware sends addresses that are not quite right.
      lenientAddressParsing: true,
      hideENHANCEDSTATUSCODES: false,
      logger: false,
      onConnect: ({ remoteAddress }, callback) => {
        if (this.#closing) callback(new Refusal(421, '4.3.2 Shutting down, try again in a moment'));
        else callback(this.#options.mayConnect(remoteAddress) ? null : new Refusal(554, '5.7.1 Not from this network'));
      },
      onAuth: ({ username, password }, session, callback) => {
        signIn.check(username ?? '', password ?? '', session.remoteAddress).then(
          (sender) => {
            senders.set(session, sender);
            callback(null, { user: username });
          },
          (error: unknown) => {
            if (!(error instanceof Refusal)) log.error('sign-in could not be checked', { error });
            callback(error instanceof Refusal ? error : new Refusal(454, 'Temporary failure, try again later'));
          },
        );
      },
      onMailFrom: (_address, session, callback) => {
        const bare = options.tls === 'required' && !session.secure;
        callback(bare ? new Refusal(530, 'Encrypt the connection with STARTTLS first') : null);
      },
      onRcptTo: (recipient, session, callback) => {
        const sender = session.user === undefined ? undefined : senders.get(session);
        reception.admit(recipient.address, sender, session.remoteAddress).then(
          (admitted) => {
            // The library keeps this very object in the envelope.
            recipient.address = admitted;
            callback(null);
          },
          (error: unknown) => {
            if (!(error instanceof Refusal)) log.error('a recipient could not be looked at', { error });
            callback(error instanceof Refusal ? error : new Refusal(451, 'Temporary failure, try again later'));
          },
        );
      },
      onData: (stream, session, callback) => {
        const work = this.#receive(reception, stream, session).then(
          (id) => callback(null, `queued as ${id}`),
          (error: unknown) => {
            if (!(error instanceof Refusal)) log.error('mail could not be taken', { error });
            callback(error instanceof Refusal ? error : new Refusal(451, 'Temporary failure, try again later'));
          },
        );
        this.#busy.set(session.id, work);
        void work.finally(() => {
          this.#busy.delete(session.id);
          if (this.#closing) this.#dismiss(session.id);
        });
      },
    });
    this.#server.on('error', (error: Error) => log.debug('connection failed', { error }));
  }

  /** Takes a certificate for connections from now on; encryption needs one before the first of them. */
  use(certificate: Certificate): void {
    this.#server.updateSecureContext(certificate);
  }

  /** Takes over a connection that the host accepted; one whose way is `leaving` is dismissed once it is idle. */
  accept(socket: Socket, leaving?: AbortSignal): void {
    const limit = this.#clock.after(longestConnectionMs, () => socket.destroy());
    const { remoteAddress, remotePort } = socket;
    const leave = (): void => {
      const found = [...this.#server.connections].find(
        ({ session }) => session.remoteAddress === remoteAddress && session.remotePort === remotePort,
      );
      if (found === undefined) return void socket.destroy();
      const { id } = found.session;
      void Promise.resolve(this.#busy.get(id)).then(() => this.#dismiss(id));
    };
    leaving?.addEventListener('abort', leave);
    socket.once('close', () => {
      limit[Symbol.dispose]();
      leaving?.removeEventListener('abort', leave);
    });
    this.#server.server.emit('connection', socket);
  }

  /** How many connections there are. */
  get size(): number {
    return this.#server.connections.size;
  }

  /** Refuses new connections, dismisses idle ones with 421, and waits a while for mails that are being received. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const { session } of this.#server.connections) {
      if (!this.#busy.has(session.id)) this.#dismiss(session.id);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    using _limit = this.#clock.after(graceMs, resolve);
    await Promise.race([Promise.all(this.#busy.values()), promise]);
    for (const { session } of this.#server.connections) this.#dismiss(session.id);
  }

  #dismiss(sessionId: string): void {
    for (const connection of this.#server.connections) {
      if (connection.session.id === sessionId) connection.send(421, 'Shutting down, try again in a moment', false);
    }
  }

  async #receive(
    reception: Reception,
    stream: SMTPServerDataStream,
    { envelope, remoteAddress }: SMTPServerSession,
  ): Promise<string> {
    const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const recipients = envelope.rcptTo.map(({ address }) => address);
    try {
      return await reception.receive({ sender, recipients, remoteAddress }, stream);
    } finally {
      // The reply may only follow the end of the data, or the rest of them would be taken for commands.
      if (!stream.readableEnded && !stream.destroyed) {
        stream.resume();
        await Promise.race([once(stream, 'end'), once(stream, 'close')]);
      }
    }
  }
}
