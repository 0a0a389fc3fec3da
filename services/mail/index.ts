import type { ApiHandler } from '../contracts/api.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { Activity } from '../kit/activity.ts';
import { DeliveryWorker } from './deliver/delivery-worker.ts';
import { manifest } from './manifest.ts';
import { MailReceiver } from './accept/mail-receiver.ts';
import { LiveRouting } from './routing/routing.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import type { Settings } from './settings.ts';
import { MailReader } from './mime/reader.ts';
import { clearSpool } from './store/retention.ts';
import { mailHandlers } from './app-api/api.ts';
import { createMailOutcomes } from './app-api/outcomes.ts';
import { setupHandlers } from './app-api/setup.ts';
import { DeliveryBackoff } from './deliver/delivery-backoff.ts';
import { SignIn } from './accept/sign-in.ts';
import { readCertificate } from './smtp/certificate.ts';
import { Listener, type LiveListenerOptions } from './smtp/listener.ts';
import { createNetworkFilter } from './smtp/networks.ts';
import { MessageStore } from './store/messages.ts';
import { Sources } from './store/sources.ts';
import { TopicMail } from './accept/topic-mail.ts';
import { importMailrise } from './import/mailrise.ts';

const hourMs = 3_600_000;

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

function createMailCounter({ metrics }: Context) {
  return metrics.counter({
    name: 'gateway_emails_processed_total',
    help: 'Mails that were accepted, refused for good (rejected), or turned away or lost by a fault here (failed).',
    labels: ['result'],
    initial: ['accepted', 'rejected', 'failed'].map((result) => ({ result })),
  });
}

/** Returns the options of the listener that may change while it runs. */
function listenerOptions(settings: Settings): LiveListenerOptions {
  const { clients, signIn } = settings;
  const isAllowedNetwork = createNetworkFilter(clients);
  return {
    maxSize: settings.maxMegabytes * 1024 * 1024,
    maxRecipients: settings.maxRecipients,
    maxClients: settings.maxClients,
    idleMs: settings.idleSeconds * 1000,
    mayConnect: (address) => isAllowedNetwork(address) || (clients.length === 0 && signIn === 'required'),
    signIn,
    acceptsTokens: settings.topicDomain !== '',
  };
}

/** SMTP gateway: converts mail to notifications; accepted mail is never lost. */
export const mail = defineService({
  ...manifest,
  create: (context, settings) => new MailService(context, settings),
});

function importData(program: string, path: string): Promise<ImportResult> {
  if (program === 'mailrise') return importMailrise(path, process.env);
  throw new Problem('mail.unknown_program', 404, `Mail takes over from mailrise only, not from ${program}.`);
}

class MailService implements Service {
  readonly api: readonly ApiHandler[];
  readonly tcp: NonNullable<Service['tcp']>;
  readonly importData = importData;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #resources = new DisposableStack();
  readonly #routing: LiveRouting;
  readonly #messages: MessageStore;
  readonly #sources: Sources;
  readonly #activity: Activity;
  readonly #mailReceiver: MailReceiver;
  readonly #deliveryWorker: DeliveryWorker;
  readonly #listener: Listener;
  readonly #outcomes: ReturnType<typeof createMailOutcomes>;

  constructor(context: Context, initialSettings: Settings) {
    const { accounts, clock, db, files } = context;
    const live = createLiveSettings(initialSettings, () => this.#applySettings());
    const settings = live.current;
    const processed = createMailCounter(context);
    const reader = new MailReader(clock);
    const deliveryBackoff = new DeliveryBackoff(clock);
    const signIn = new SignIn(accounts, () => settings.logins);
    this.#context = context;
    this.#settings = settings;
    this.#routing = new LiveRouting(settings);
    this.#messages = new MessageStore(db);
    this.#sources = new Sources(db, files);
    this.#activity = new Activity(context, mailActivity);
    const [routing, messages, sources, activity] = [this.#routing, this.#messages, this.#sources, this.#activity];
    const mailReceiver = new MailReceiver({
      context,
      routing,
      messages,
      sources,
      processed,
      activity,
      deliveryBackoff,
      topicMail: new TopicMail(accounts, () => routing.topics),
      signIn,
      requiresSignIn: () => settings.signIn === 'required',
    });
    this.#mailReceiver = mailReceiver;
    this.#deliveryWorker = new DeliveryWorker({
      context,
      routing,
      sources,
      reader,
      processed,
      activity,
      deliveryBackoff,
      recognize: () => settings.recognise,
    });
    this.#listener = this.#createListener(signIn);
    this.#outcomes = createMailOutcomes(context, settings, activity);
    this.api = [
      ...mailHandlers({
        context,
        routing,
        mailReceiver,
        messages,
        sources,
        reader,
        activity,
        outcomes: this.#outcomes,
      }),
      ...setupHandlers(routing, settings),
    ];
    this.tcp = (socket, leaving) => this.#listener.accept(socket, leaving);
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { bus, clock, log } = this.#context;
    await this.#loadCertificate();
    await this.#sources.open();
    this.#mailReceiver.lastReceivedAt = await this.#messages.findNewestTime();
    this.#resources.use(this.#activity);
    this.#resources.use(this.#outcomes);
    this.#resources.use(bus.subscribe(mailActivity, this.#outcomes.invalidate));
    this.#resources.use(
      bus.subscribe(jobsChanged, ({ service }) => {
        if (service !== manifest.id) return;
        this.#outcomes.invalidate();
        this.#activity.touch();
      }),
    );
    this.#resources.use(this.#deliveryWorker.start());
    this.#resources.use(clock.every(hourMs, () => this.#clearOldMails()));
    // Certificates are renewed by replacing their files.
    this.#resources.use(
      clock.every(hourMs, () => {
        this.#loadCertificate().catch((error: unknown) => log.warn('certificate reload failed', { error }));
      }),
    );
  }

  health(): Promise<Health> {
    const { lastReceivedAt } = this.#mailReceiver;
    const now = this.#context.clock.now();
    const detail = lastReceivedAt === undefined ? 'No mail yet' : `Last mail ${ago(now - lastReceivedAt)}`;
    const begin = { label: 'Send a first mail', to: '/delivery/connect' };
    return Promise.resolve({ state: 'up', detail, ...(lastReceivedAt === undefined ? { begin } : {}) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
    this.#resources.dispose();
  }

  #applySettings(): void {
    this.#routing.update(this.#settings);
    this.#listener.reconfigure(listenerOptions(this.#settings));
  }

  #clearOldMails(): void {
    const { clock, log } = this.#context;
    const before = clock.now() - this.#settings.spoolDays * 24 * hourMs;
    clearSpool(this.#messages, this.#sources, before).catch((error: unknown) =>
      log.warn('spool cleanup failed', { error }),
    );
  }

  async #loadCertificate(): Promise<void> {
    const { tls, certificateFile, keyFile } = this.#settings;
    if (tls !== 'off') this.#listener.setCertificate(await readCertificate(certificateFile, keyFile));
  }

  #createListener(signIn: SignIn): Listener {
    const { accounts, clock, log } = this.#context;
    const { hostName, tls } = this.#settings;
    const options = {
      onBusy: (address: string) => accounts.record({ event: 'rate_limited', address, detail: 'SMTP connection' }),
      ...listenerOptions(this.#settings),
      tls,
      hostName,
    };
    return new Listener(this.#mailReceiver, signIn, options, clock, log);
  }
}
