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
      const failure = Promise.withResolvers<unknown>();
      const fail = (error: unknown): void => {
        failure.resolve(error);
        void connection.close().catch(() => undefined);
      };
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) receive(message.string());
          // For example a missing permission: the server keeps the connection without the subscription.
          else fail(error);
        },
      });
      void followErrors(connection, fail);
      try {
        // Resolves when the server has the subscription.
        await withTimeout(connection.flush());
      } catch (error) {
        void connection.close().catch(() => undefined);
        throw error;
      }
      return toConnection(connection, subject, failure.promise);
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

/** Reports errors of the server that do not end the connection, such as a refused message. */
async function followErrors(connection: NatsConnection, fail: (error: unknown) => void): Promise<void> {
  for await (const status of connection.status()) if (status.type === 'error') fail(status.error);
}

function toConnection(connection: NatsConnection, subject: string, failure: Promise<unknown>): Connection {
  return {
    closed: Promise.race([failure, connection.closed()]),
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
