import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { IClientOptions, MqttClient } from 'mqtt';
import { conditionsHold, hasConditions } from '../domain/conditions.ts';
import { openConnection } from './connect.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure } from './failure.ts';
import { evaluateJsonQuery } from './json-query.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { limitBytesRead } from './read-limit.ts';
import { assertAllowedTarget, guardedLookup } from './target-policy.ts';

const maxMessageBytes = 1024 * 1024;
/** Retained messages of a wildcard topic may precede the first. */
const maxReadBytes = 4 * maxMessageBytes;
const defaultPorts: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883, 'ws:': 80, 'wss:': 443 };

interface ReceivedMessage {
  readonly topic: string;
  readonly message: string;
}

/** Waits for an MQTT message on the topic and compares it with the keyword, JSON value or conditions. */
export async function probeMqtt(context: CheckContext): Promise<CheckOutcome> {
  const { config, signal } = context;
  const topic = getField(config, 'mqttTopic');
  const host = config.hostname ?? '';
  const scheme = /^(mqtts?|wss?):\/\//.test(host) ? '' : 'mqtt://';
  const url = URL.parse(`${scheme}${host}`);
  if (url === null || topic === '') throw createSettingsFailure('broker_missing', {});
  if (config.port !== null) url.port = String(config.port);
  if (url.protocol.startsWith('ws')) url.pathname = getField(config, 'mqttWebsocketPath') || url.pathname;
  const client = await connectClient(url, context, {
    reconnectPeriod: 0,
    connectTimeout: 600_000,
    clean: true,
    ...(getField(config, 'mqttUsername') === ''
      ? getUrlCredentials(url)
      : { username: getField(config, 'mqttUsername'), password: getField(config, 'mqttPassword') }),
  });
  return await evaluateMessage(config, await receiveMessage(client, topic, signal));
}

function getField(config: CheckContext['config'], name: string): string {
  return typeof config[name] === 'string' ? config[name] : '';
}

/** Subscribes to the topic, returns its first message and ends the connection. */
async function receiveMessage(client: MqttClient, topic: string, signal: AbortSignal): Promise<ReceivedMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedMessage>();
  promise.catch(() => undefined);
  const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
  signal.addEventListener('abort', abort, { once: true });
  client.on('error', reject);
  client.on('close', () => reject(createTargetFailure('broker_closed', {})));
  client.on('connect', () => {
    client.subscribe(topic, (error, granted) => {
      if (error) reject(error);
      else if (granted?.[0] !== undefined && granted[0].qos > 2)
        reject(createTargetFailure('broker_refused_topic', {}));
    });
  });
  client.on('message', (received, bytes) => {
    resolve({ topic: received, message: bytes.subarray(0, maxMessageBytes).toString('utf8') });
  });
  // The stream of a WebSocket has no `bytesRead`. Its frames are limited, but one packet may consist of many.
  let receivedBytes = 0;
  client.stream.on('data', (part: Buffer) => (receivedBytes += part.length));
  const bytesRead = (): number => receivedBytes;
  using _limit = limitBytesRead(bytesRead, maxReadBytes, (failure) => {
    reject(failure);
    client.end(true);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    client.end(true);
  }
}

/** @throws CheckFailure when the message is not as expected */
async function evaluateMessage(
  config: CheckContext['config'],
  { topic, message }: ReceivedMessage,
): Promise<CheckOutcome> {
  const summary = `Topic: ${topic}; Message: ${message.slice(0, 200)}`;
  if (hasConditions(config.conditions)) {
    const json_value = await queryJsonValue(message, getField(config, 'jsonPath'));
    if (!conditionsHold(config.conditions, { topic, message, json_value }))
      throw new CheckFailure(`Conditions not met - ${summary}`);
  } else if (getField(config, 'mqttCheckType') === 'json-query') {
    const { holds, value } = await evaluateJsonQuery({
      text: message,
      path: getField(config, 'jsonPath'),
      operator: config.jsonPathOperator ?? '==',
      expected: getField(config, 'expectedValue'),
    });
    if (!holds) throw new CheckFailure(`The value ${value} is not as expected - Topic: ${topic}`);
  } else if (!message.includes(getField(config, 'mqttSuccessMessage'))) {
    throw new CheckFailure(`Message mismatch - ${summary}`);
  }
  return { status: heartbeatStatus.up, msg: summary };
}

/** Returns the value that conditions compare as `json_value`; empty when the query finds nothing. */
async function queryJsonValue(text: string, path: string): Promise<string> {
  if (path === '') return '';
  try {
    return (await evaluateJsonQuery({ text, path, operator: '==', expected: '' })).value;
  } catch (error) {
    if (error instanceof CheckFailure) return '';
    throw error;
  }
}

/** Opens the connection here, because the library would open socket files and proxies that the address names. */
async function connectClient(url: URL, context: CheckContext, options: IClientOptions): Promise<MqttClient> {
  const { config, signal, onChain } = context;
  const port = url.port === '' ? (defaultPorts[url.protocol] ?? 1883) : Number(url.port);
  // Loaded on first use.
  const { default: mqtt } = await import('mqtt');
  signal.throwIfAborted();
  if (url.protocol.startsWith('ws')) {
    assertAllowedTarget(url.hostname, port, 'exchange');
    return mqtt.connect(`${url.protocol}//${url.host}${url.pathname}${url.search}`, {
      ...options,
      rejectUnauthorized: config.ignoreTls !== true,
      ...(config.tlsCa ? { ca: config.tlsCa } : {}),
      wsOptions: { lookup: guardedLookup(port, 'exchange'), maxPayload: maxMessageBytes, followRedirects: false },
    });
  }
  const tls = { ignoreTls: config.ignoreTls === true, ca: config.tlsCa || undefined, onChain };
  const secure = url.protocol === 'mqtts:';
  const socket = await openConnection({ host: url.hostname, port, tls: secure ? tls : undefined, signal });
  return new mqtt.MqttClient(() => socket, options);
}

function getUrlCredentials({ username, password }: URL): IClientOptions {
  return username === '' ? {} : { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}
