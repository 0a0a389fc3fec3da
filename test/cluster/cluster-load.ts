import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { adminAuthorization } from '../support/host.ts';
import { SmtpDialogue } from '../support/smtp.ts';
import type { TcpBalancer } from '../support/tcp-balancer.ts';
import { GapMeter } from './gap-meter.ts';
import { openSubscriber, type Subscriber } from './subscriber.ts';

/** Topics of the published messages, each with two subscribers. */
export const loadTopics = ['load-a', 'load-b'] as const;
/** Topic of the messages with attachments. */
const uploadTopic = 'uploads';
/** Recipient whose mails are delivered to the inbox. */
const recipient = 'alerts@example.org';
/** Key of the deliveries; its destination is an HTTP server of the test. */
export const notifyKey = 'load';
/** A request is repeated or given up after this time. */
const requestTimeoutMs = 8000;

/** Request without a response: whether it had an effect is unknown. */
export interface FailedRequest {
  readonly kind: LoadKind;
  readonly text: string;
  readonly reason: string;
}

export type LoadKind = 'publish' | 'upload' | 'mail' | 'notify';

/** Message that was published with an acknowledgement. */
export interface Acknowledged {
  readonly id: string;
  readonly topic: string;
  readonly text: string;
}

export interface StoredUpload {
  readonly path: string;
  readonly sha256: string;
}

/** Requests of all kinds through a load balancer until they are stopped, with everything that was acknowledged. */
export interface ClusterLoad extends AsyncDisposable {
  readonly published: readonly Acknowledged[];
  readonly uploads: readonly StoredUpload[];
  /** Subjects of the accepted mails. */
  readonly mails: readonly string[];
  /** Titles of the accepted notifications. */
  readonly notifications: readonly string[];
  readonly failed: readonly FailedRequest[];
  readonly subscribers: readonly Subscriber[];
  /** Times between two acknowledgements, by the name of the sender. */
  readonly gaps: ReadonlyMap<string, GapMeter>;
  /** Ends the requests, but not the subscriptions. */
  stop(): Promise<void>;
}

interface Records {
  readonly published: Acknowledged[];
  readonly uploads: StoredUpload[];
  readonly mails: string[];
  readonly notifications: string[];
  readonly failed: FailedRequest[];
}

/** Sends one request with a text that occurs once. @throws Error if it is not acknowledged. */
type Send = (balancer: TcpBalancer, text: string, records: Records) => Promise<void>;

/** Starts the load. The destination of {@link notifyKey} must exist. */
export async function startLoad(balancer: TcpBalancer, { pauseMs = 40 } = {}): Promise<ClusterLoad> {
  const records: Records = { published: [], uploads: [], mails: [], notifications: [], failed: [] };
  const subscribers = await Promise.all(
    [...loadTopics, ...loadTopics].map((topic) => openSubscriber(() => `${balancer.url('push')}/${topic}/json`)),
  );
  const gaps = new Map<string, GapMeter>();
  let isStopped = false;
  const repeat = async (kind: LoadKind, send: Send, pauses: number, name: string): Promise<void> => {
    const meter = new GapMeter();
    gaps.set(`${kind} ${name}`, meter);
    for (let n = 0; !isStopped; n += 1) {
      const text = `${kind} ${name}-${String(n)}`;
      try {
        await send(balancer, text, records);
        meter.record();
      } catch (error) {
        const { message, cause } = error as Error;
        records.failed.push({ kind, text, reason: `${message} ${cause instanceof Error ? cause.message : ''}` });
      }
      await pause(pauses);
    }
  };
  const runs = [
    ...loadTopics.flatMap((topic) =>
      ['1', '2'].map((publisher) => repeat('publish', publishTo(topic), pauseMs, `${topic}-${publisher}`)),
    ),
    repeat('upload', upload, 4 * pauseMs, 'a'),
    repeat('mail', sendMail, 4 * pauseMs, 'a'),
    repeat('notify', notify, 4 * pauseMs, 'a'),
  ];
  const stop = async (): Promise<void> => {
    isStopped = true;
    await Promise.all(runs);
  };
  return {
    ...records,
    subscribers,
    gaps,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      for (const subscriber of subscribers) subscriber[Symbol.dispose]();
    },
  };
}

/** Sends a request as the administrator, and returns the text of a successful response. */
async function request(url: string, method: string, body: string | Uint8Array, headers = {}): Promise<string> {
  const reply = await fetch(url, {
    method,
    body: body as BodyInit,
    headers: { authorization: adminAuthorization, ...headers },
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`status ${String(reply.status)}: ${text}`);
  return text;
}

function publishTo(topic: string): Send {
  return async (balancer, text, { published }) => {
    const reply = await request(`${balancer.url('push')}/${topic}`, 'POST', text);
    published.push({ id: (JSON.parse(reply) as { id: string }).id, topic, text });
  };
}

const upload: Send = async (balancer, text, { uploads }) => {
  const content = randomBytes(50_000);
  const headers = { filename: `${text.replaceAll(' ', '-')}.bin`, message: text };
  const reply = await request(`${balancer.url('push')}/${uploadTopic}`, 'PUT', content, headers);
  const { attachment } = JSON.parse(reply) as { attachment: { url: string } };
  const sha256 = createHash('sha256').update(content).digest('hex');
  uploads.push({ path: new URL(attachment.url).pathname, sha256 });
};

/** Downloads an attachment through the balancer and returns its checksum. */
export async function readUpload(balancer: TcpBalancer, path: string): Promise<string> {
  const reply = await fetch(balancer.url('push') + path, { headers: { authorization: adminAuthorization } });
  if (!reply.ok) throw new Error(`${path}: status ${String(reply.status)}`);
  return createHash('sha256')
    .update(new Uint8Array(await reply.arrayBuffer()))
    .digest('hex');
}

/** Sends a mail until it is accepted, as a mail server does. */
const sendMail: Send = async (balancer, subject, { mails }) => {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const reply = await Promise.race([dialogue(balancer.port('mail'), subject), pause(requestTimeoutMs, 'no reply')]);
    if (reply.startsWith('250')) break;
    if (performance.now() > deadline) throw new Error(reply);
    await pause(200);
  }
  mails.push(subject);
};

async function dialogue(port: number, subject: string): Promise<string> {
  try {
    using client = await SmtpDialogue.open(port);
    const id = `<${subject.replaceAll(' ', '.')}@example.org>`;
    return await client.send(recipient, `${subject}\r\nMessage-ID: ${id}`, subject);
  } catch (error) {
    return (error as Error).message;
  }
}

const notify: Send = async (balancer, title, { notifications }) => {
  const body = JSON.stringify({ title, body: 'load' });
  await request(`${balancer.url('notify')}/notify/${notifyKey}`, 'POST', body, { 'content-type': 'application/json' });
  notifications.push(title);
};
