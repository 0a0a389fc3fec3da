import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import type { NatsSettings } from './nats-settings.ts';
import type { Connection, Transport } from './transport.ts';

/** Below the limit of 1 MiB that servers have by default; longer messages are split. */
const maxFrameLength = 512 * 1024;
const timeoutMs = 3000;
/** A server that does not answer two pings is disconnected. */
const pingMs = 2000;
const maxUnansweredPings = 2;

/**
 * Creates a transport over core NATS. The subject contains the fingerprint of the installation, so that several
 * installations can use one server.
 */
export function createNatsTransport(settings: NatsSettings, installation: string): Transport {
  const subject = `homeport.${installation.slice(0, 32)}.relay`;
  return {
    kind: 'nats',
    maxFrameLength,
    async connect(receive) {
      const connection = await openConnection(settings);
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) receive(message.string());
        },
      });
      try {
        // Resolves when the server has the subscription.
        await withTimeout(connection.flush());
      } catch (error) {
        void connection.close().catch(() => undefined);
        throw error;
      }
      return toConnection(connection, subject);
    },
  };
}

function openConnection({ servers, tls, user, password, token, credentials }: NatsSettings): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    name: 'homeport',
    noEcho: true,
    // The relay connects again, so that attempts have the same delays and log with every transport.
    reconnect: false,
    timeout: timeoutMs,
    pingInterval: pingMs,
    maxPingOut: maxUnansweredPings,
    ignoreClusterUpdates: true,
    ...(tls ? { tls: {} } : {}),
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
    ...(token === undefined ? {} : { token }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(credentials) }),
  });
}

function toConnection(connection: NatsConnection, subject: string): Connection {
  return {
    closed: connection.closed(),
    send(frames) {
      if (connection.isClosed()) return;
      for (const frame of frames) connection.publish(subject, frame);
    },
    async [Symbol.asyncDispose]() {
      if (connection.isClosed()) return;
      // Sends what is queued, unless the server does not respond.
      await withTimeout(connection.flush()).catch(() => undefined);
      await connection.close();
    },
  };
}

/** Rejects when the server does not respond. */
async function withTimeout(response: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error('NATS did not respond')), timeoutMs);
  try {
    await Promise.race([response, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
