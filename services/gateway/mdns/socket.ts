import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type Packet } from 'dns-packet';

export const multicastGroup = '224.0.0.251';

interface SocketParts {
  readonly port: number;
  /** Local addresses of the networks to use. */
  readonly addresses: readonly string[];
  readonly heard: (packet: Packet, from: RemoteInfo) => void;
  readonly failed: (error: Error) => void;
}

/** Multicast DNS socket for several networks. */
export class MulticastSocket implements AsyncDisposable {
  readonly #parts: SocketParts;
  readonly #socket: Socket;
  #sending: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(parts: SocketParts, socket: Socket) {
    this.#parts = parts;
    this.#socket = socket;
  }

  /** @throws Error when multicast is not available on these addresses */
  static async open(parts: SocketParts): Promise<MulticastSocket> {
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    const opened = new MulticastSocket(parts, socket);
    try {
      socket.bind(parts.port, '0.0.0.0');
      await once(socket, 'listening');
      for (const address of parts.addresses) socket.addMembership(multicastGroup, address);
      socket.setMulticastTTL(255);
      socket.setMulticastLoopback(true);
    } catch (error) {
      socket.close();
      throw error;
    }
    socket.on('error', parts.failed);
    socket.on('message', (bytes, from) => {
      const packet = read(bytes);
      if (packet !== undefined) parts.heard(packet, from);
    });
    socket.unref();
    return opened;
  }

  /** Sends to the multicast group. */
  tell(packet: Packet): Promise<void> {
    return this.#inTurn(async () => {
      for (const address of this.#parts.addresses) {
        this.#socket.setMulticastInterface(address);
        await this.#send(packet, this.#parts.port, multicastGroup);
      }
    });
  }

  /** Sends to a single address. */
  reply(packet: Packet, { port, address }: Pick<RemoteInfo, 'port' | 'address'>): Promise<void> {
    // Port 0 only occurs in forged packets.
    if (port === 0) return Promise.resolve();
    return this.#inTurn(() => this.#send(packet, port, address));
  }

  /** Sends are serialized, because the multicast interface is a property of the socket. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      // Errors of a network that disappeared are ignored.
      if (!this.#isClosed) await work().catch((error: unknown) => this.#parts.failed(error as Error));
    });
    return this.#sending;
  }

  #send(packet: Packet, port: number, address: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(encode(packet), port, address, (error) => {
        if (error !== null) this.#parts.failed(error);
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sending;
    this.#isClosed = true;
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

/** Returns undefined for malformed packets. */
function read(bytes: Buffer): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}
