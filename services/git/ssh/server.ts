import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readSshCommand } from '../domain/ssh-command.ts';
import type { LfsTickets } from '../lfs/tickets.ts';
import type { Found, Lookup } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { levels } from '../repositories/access.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { anonymousCaller, type Caller } from '../sign-in/caller.ts';
import { protocolOf, type Transfer } from '../transfer/transfer.ts';
import type { Keys } from './keys.ts';

export interface SshDependencies {
  readonly context: Pick<Context, 'clock' | 'log'>;
  readonly keys: Keys;
  readonly signIn: SignIn;
  readonly lookup: Lookup;
  readonly transfer: Transfer;
  readonly tickets: LfsTickets;
  /** Returns the LFS address of a repository over HTTP. */
  readonly lfsAddress: (repository: Repository) => string;
}

/** Time limit for the sign-in, ms. */
const signInMs = 30_000;
/** Maximum number of concurrent sessions in a connection. */
const mostSessions = 10;
const mostConnections = 200;

/** Offered algorithms. SHA-1 is disabled for message authentication, key exchange and host keys. */
const algorithms: ssh2.Algorithms = {
  hmac: {
    remove: ['hmac-sha1', 'hmac-sha1-etm@openssh.com', 'hmac-sha1-96', 'hmac-md5', 'hmac-md5-96'],
    append: [],
    prepend: [],
  },
  kex: {
    remove: ['diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1', 'diffie-hellman-group-exchange-sha1'],
    append: [],
    prepend: [],
  },
};

/** Client that signed in with a public key. */
interface Guest {
  /** Public key in SSH wire format. */
  readonly blob: Buffer;
  /** Account of the key, or one caller for each repository with this deploy key. */
  readonly visitors: readonly Caller[];
  readonly name: string;
  readonly key: string;
}

/** SSH server for git commands. Accounts sign in with their public keys. */
export class SshServer implements Disposable {
  readonly #dependencies: SshDependencies;
  readonly #server: ssh2.Server;
  readonly #connections = new Set<Connection>();

  constructor(deps: SshDependencies, hostKeys: readonly string[]) {
    this.#dependencies = deps;
    this.#server = new ssh2.Server(
      { hostKeys: hostKeys.flatMap((text) => [...withoutSha1(text)]), ident: 'Homeport', algorithms },
      (connection) => this.#welcome(connection),
    );
  }

  accept(socket: Socket): void {
    if (this.#connections.size >= mostConnections) socket.destroy();
    else this.#server.injectSocket(socket);
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.end();
  }

  #welcome(connection: Connection): void {
    const { clock, log } = this.#dependencies.context;
    this.#connections.add(connection);
    let guest: Guest | undefined;
    let sessions = 0;
    const late = clock.after(signInMs, () => connection.end());
    connection.on('error', (error) => log.debug('ssh connection failed', { error }));
    connection.on('close', () => {
      late[Symbol.dispose]();
      this.#connections.delete(connection);
    });
    connection.on('authentication', (attempt) => {
      this.#authenticate(attempt).then(
        (found) => {
          guest = found;
          if (found === undefined) attempt.reject(['publickey']);
        },
        (error: unknown) => {
          log.error('ssh sign-in failed', { error });
          attempt.reject();
        },
      );
    });
    connection.on('ready', () => late[Symbol.dispose]());
    connection.on('session', (accept, reject) => {
      if (guest === undefined || sessions >= mostSessions) return void reject();
      sessions += 1;
      const session = accept();
      session.on('close', () => (sessions -= 1));
      this.#serve(session, guest);
    });
    connection.on('request', (_accept, reject) => reject?.());
    connection.on('tcpip', (_accept, reject) => reject());
  }

  /** Authenticates a client. It first asks whether the key is accepted and then proves that it has the private key. */
  async #authenticate(attempt: AuthContext): Promise<Guest | undefined> {
    if (attempt.method !== 'publickey') return undefined;
    // Reject RSA signatures with SHA-1: clients sign with SHA-2 since OpenSSH 7.2.
    if (attempt.key.algo === 'ssh-rsa' && attempt.signature !== undefined && attempt.hashAlgo === undefined)
      return undefined;
    const { data } = attempt.key;
    const [row] = await this.#dependencies.keys.holders(data);
    if (row === undefined) return undefined;
    const guest = await this.#guest(data);
    if (guest === undefined) return undefined;
    if (attempt.signature === undefined) {
      attempt.accept();
      return guest;
    }
    const key = ssh2.utils.parseKey(row.text);
    if (key instanceof Error || attempt.blob === undefined) return undefined;
    if (key.verify(attempt.blob, attempt.signature, attempt.hashAlgo) !== true) return undefined;
    await this.#dependencies.keys.used(row);
    attempt.accept();
    return guest;
  }

  /** Returns the access that a key grants now, or undefined if the key was removed or its account is disabled. */
  async #guest(blob: Buffer): Promise<Guest | undefined> {
    const rows = await this.#dependencies.keys.holders(blob);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.account !== null) {
      const identity = await this.#dependencies.signIn.account(row.account);
      return (
        identity && {
          blob,
          visitors: [{ ...anonymousCaller, identity, sshKey: row.id }],
          name: identity.account,
          key: row.title,
        }
      );
    }
    const visitors = rows.map(({ id, repository_id, read_only, title }) => {
      return {
        ...anonymousCaller,
        sshKey: id,
        deployKey: { repository: repository_id ?? 0, readOnly: read_only === 1, title },
      };
    });
    return { blob, visitors, name: row.title, key: row.title };
  }

  /** Finds a repository that the client may read, also by a former name. */
  async #find(guest: Guest, owner: string, name: string): Promise<{ caller: Caller; found: Found } | undefined> {
    const { lookup } = this.#dependencies;
    for (const caller of guest.visitors) {
      const found = await lookup.find(caller, owner, name);
      if (found !== undefined) return { caller, found };
      const renamed = await lookup.renamed(caller, owner, name);
      const moved = renamed && (await lookup.find(caller, renamed.owner, renamed.name));
      if (moved !== undefined) return { caller, found: moved };
    }
    return undefined;
  }

  #serve(session: Session, guest: Guest): void {
    let protocol: string | undefined;
    session.on('env', (accept, _reject, { key, val }) => {
      if (key === 'GIT_PROTOCOL') protocol = protocolOf(val);
      // Clients send arbitrary variables and report an error if one is rejected.
      (accept as (() => void) | undefined)?.();
    });
    session.on('pty', (_accept, reject) => (reject as (() => void) | undefined)?.());
    session.on('shell', (accept) => {
      const channel = accept();
      channel.stderr.write(
        `Hi there, ${guest.name}! You've successfully authenticated with the key named ${guest.key}, ` +
          'but Homeport does not provide shell access.\n',
      );
      leave(channel, 0);
    });
    session.on('exec', (accept, _reject, { command }) => {
      const channel = accept();
      channel.on('error', (error: unknown) => this.#dependencies.context.log.debug('ssh channel failed', { error }));
      this.#run(channel, guest.blob, command, protocol).then(
        (code) => leave(channel, code),
        (error: unknown) => {
          // The client closed the connection or its process was ended.
          if (channel.destroyed) return void this.#dependencies.context.log.debug('ssh client disconnected', { error });
          const isRefusal = error instanceof Problem && error.status < 500;
          if (!isRefusal) this.#dependencies.context.log.error('ssh command failed', { error });
          channel.stderr.write(
            `error:\nerror: ${isRefusal ? error.detail : 'Something went wrong here; see the log.'}\nerror:\n`,
          );
          leave(channel, 1);
        },
      );
    });
  }

  async #run(channel: ServerChannel, blob: Buffer, text: string, protocol: string | undefined): Promise<number> {
    // The key may have been removed since the connection was opened.
    const guest = await this.#guest(blob);
    if (guest === undefined) throw new Problem('git.forbidden', 403, 'This key is no longer valid.');
    const command = readSshCommand(text);
    if (command.kind === 'refused') throw new Problem('git.refused', 400, command.reason);
    const { owner, name } = command;
    const { transfer } = this.#dependencies;
    const place = await this.#find(guest, owner, name);
    if (place === undefined) throw new Problem('git.unknown', 404, `Cannot find repository: ${owner}/${name}`);
    const { found, caller } = place;
    const { repository } = found;
    if (command.kind === 'lfs') return this.#lfs(channel, caller, repository, command.operation);
    const { program } = command;
    const away = new AbortController();
    channel.once('close', () => away.abort());
    const conversation = { input: channel, output: kept(channel), protocol, signal: away.signal };
    if (program === 'upload-pack') return transfer.upload(repository, conversation, { stateless: false });
    if (program === 'upload-archive') return transfer.archive(repository, conversation);
    if (levels.indexOf(found.level) < levels.indexOf('write')) {
      throw new Problem('git.forbidden', 403, `${guest.name} may not push to ${owner}/${name}.`);
    }
    await transfer.advertise('receive-pack', repository, conversation, { end: false });
    const byDeployKey = caller.deployKey !== undefined;
    await transfer.receive(
      repository,
      { account: caller.identity?.account ?? guest.name, byDeployKey, administers: found.level === 'admin' },
      conversation,
    );
    return 0;
  }

  /** Sends the LFS address and a token to a Git LFS client. */
  async #lfs(
    channel: ServerChannel,
    caller: Caller,
    repository: Repository,
    operation: 'upload' | 'download',
  ): Promise<number> {
    const { lookup, lfsAddress, tickets } = this.#dependencies;
    await lookup.need(caller, [repository.owner, repository.name], operation === 'upload' ? 'write' : 'read');
    const { text, seconds } = tickets.issue(caller, operation);
    const answer = { header: { Authorization: `Bearer ${text}` }, href: lfsAddress(repository), expires_in: seconds };
    channel.write(JSON.stringify(answer));
    return 0;
  }
}

/**
 * Converts a host key for the library. The library would also offer SHA-1 signatures for an RSA key. A parsed key with
 * an explicit signature type is offered only with SHA-2.
 */
function withoutSha1(text: string): readonly ssh2.EncryptedPrivateKey[] {
  if (typeOf(text) !== 'ssh-rsa') return [{ key: text, passphrase: '' }];
  return ['rsa-sha2-512', 'rsa-sha2-256'].map((type) => {
    const key: unknown = Object.assign(ssh2.utils.parseKey(text), { type });
    return { key: key as string, passphrase: '' };
  });
}

function typeOf(text: string): string {
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? '' : key.type;
}

/** Wraps the channel so that the end of the output does not close it. The exit code is sent afterwards. */
function kept(channel: ServerChannel): Writable {
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      channel.write(chunk, (error) => callback(error ?? undefined));
    },
  });
  channel.once('close', () => output.destroy());
  // The channel emits the same error.
  output.on('error', () => undefined);
  return output;
}

function leave(channel: ServerChannel, code: number): void {
  if (channel.destroyed) return;
  channel.exit(code);
  channel.end();
}
