import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { Activity } from '../kit/activity.ts';
import { DeliveryWorker } from './deliver/delivery-worker.ts';
import { manifest } from './manifest.ts';
import { MailReceiver } from './accept/mail-receiver.ts';
import { toRouting, type Routing } from './accept/routing.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import type { Settings } from './settings.ts';
import { MailReader } from './mime/reader.ts';
import { clearSpool } from './store/retention.ts';
import { mailHandlers } from './app-api/api.ts';
import { createMailOutcomes } from './app-api/outcomes.ts';
import { setupHandlers } from './app-api/setup.ts';
import { DeliveryBackoff } from './accept/delivery-backoff.ts';
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
  create(context, initialSettings) {
    const live = createLiveSettings(initialSettings, () => {
      currentRouting = toRouting(settings);
      listener.reconfigure(listenerOptions(settings));
    });
    const settings = live.current;
    const { bus, clock, db, files, log } = context;
    const messages = new MessageStore(db);
    const sources = new Sources(db, files);
    const processed = createMailCounter(context);
    const activity = new Activity(context, mailActivity);
    const reader = new MailReader(clock);
    let currentRouting = toRouting(settings);
    const routing: Routing = {
      get mappings() {
        return currentRouting.mappings;
      },
      get rules() {
        return currentRouting.rules;
      },
      get topics() {
        return currentRouting.topics;
      },
      get urls() {
        return currentRouting.urls;
      },
    };
    const deliveryBackoff = new DeliveryBackoff(clock);
    const recognize = (): boolean => settings.recognise;
    const signIn = new SignIn(context.accounts, () => settings.logins);
    const topicMail = new TopicMail(context.accounts, () => routing.topics);
    const requiresSignIn = (): boolean => settings.signIn === 'required';
    const incoming = { messages, sources, processed, activity, deliveryBackoff, topicMail, signIn, requiresSignIn };
    const mailReceiver = new MailReceiver({ context, routing, ...incoming });
    const deliveryWorker = new DeliveryWorker({
      context,
      routing,
      sources,
      reader,
      processed,
      activity,
      deliveryBackoff,
      recognize,
    });
    const { tls, certificateFile, keyFile } = settings;
    const listener = new Listener(
      mailReceiver,
      signIn,
      {
        onBusy: (address) => context.accounts.record({ event: 'rate_limited', address, detail: 'SMTP connection' }),
        ...listenerOptions(settings),
        tls,
        hostName: settings.hostName,
      },
      clock,
      log,
    );
    const outcomes = createMailOutcomes(context, settings, activity);
    const resources = new DisposableStack();

    const clearOldMails = (): void => {
      clearSpool(messages, sources, clock.now() - settings.spoolDays * 24 * hourMs).catch((error: unknown) =>
        log.warn('spool cleanup failed', { error }),
      );
    };

    const loadCertificate = async (): Promise<void> => {
      if (tls !== 'off') listener.setCertificate(await readCertificate(certificateFile, keyFile));
    };

    return {
      api: [
        ...mailHandlers({ context, routing, mailReceiver, messages, sources, reader, activity, outcomes }),
        ...setupHandlers(routing, settings),
      ],
      importData(program, place) {
        if (program === 'mailrise') return importMailrise(place, process.env);
        throw new Problem('mail.unknown_program', 404, `Mail takes over from mailrise only, not from ${program}.`);
      },
      tcp: (socket, leaving) => listener.accept(socket, leaving),
      async start() {
        await loadCertificate();
        await sources.open();
        mailReceiver.lastReceivedAt = await messages.findNewestTime();
        resources.use(activity);
        resources.use(outcomes);
        resources.use(bus.subscribe(mailActivity, outcomes.invalidate));
        resources.use(
          bus.subscribe(jobsChanged, ({ service }) => {
            if (service !== manifest.id) return;
            outcomes.invalidate();
            activity.touch();
          }),
        );
        resources.use(deliveryWorker.start());
        resources.use(clock.every(hourMs, clearOldMails));
        // Certificates are renewed by replacing their files.
        resources.use(
          clock.every(hourMs, () => {
            loadCertificate().catch((error: unknown) => log.warn('certificate reload failed', { error }));
          }),
        );
      },
      health(): Promise<Health> {
        const { lastReceivedAt } = mailReceiver;
        const detail = lastReceivedAt === undefined ? 'No mail yet' : `Last mail ${ago(clock.now() - lastReceivedAt)}`;
        const begin = { label: 'Send a first mail', to: '/delivery/connect' };
        return Promise.resolve({ state: 'up', detail, ...(lastReceivedAt === undefined ? { begin } : {}) });
      },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        await listener.close();
        resources.dispose();
      },
    };
  },
});
