import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { Activity } from '../kit/activity.ts';
import { Deliveries } from './deliver/delivery-worker.ts';
import { manifest } from './manifest.ts';
import { Gateway } from './accept/mail-receiver.ts';
import { routingOf, type Routing } from './accept/routing.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import type { Settings } from './settings.ts';
import { MailReader } from './mime/reader.ts';
import { clearSpool } from './store/retention.ts';
import { mailHandlers } from './app-api/api.ts';
import { mailOutcomes } from './app-api/outcomes.ts';
import { setUpHandlers } from './app-api/setup.ts';
import { Admission } from './accept/delivery-backoff.ts';
import { SignIn } from './accept/sign-in.ts';
import { readCertificate } from './smtp/certificate.ts';
import { Listener, type MailBounds } from './smtp/listener.ts';
import { within } from './smtp/networks.ts';
import { MessageStore } from './store/messages.ts';
import { Sources } from './store/sources.ts';
import { TopicMail } from './accept/topic-mail.ts';
import { takeOverMailrise } from './import/mailrise.ts';

const hourMs = 3_600_000;

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

function countMails({ metrics }: Context) {
  return metrics.counter({
    name: 'gateway_emails_processed_total',
    help: 'Mails that were accepted, refused for good (rejected), or turned away or lost by a fault here (failed).',
    labels: ['result'],
    initial: ['accepted', 'rejected', 'failed'].map((result) => ({ result })),
  });
}

/** What a mail may have, as the listener wants to know it. */
function bounds({ maxMegabytes, maxRecipients }: Settings): MailBounds {
  return { maxSize: maxMegabytes * 1024 * 1024, maxRecipients };
}

/** The SMTP gateway: mail becomes a notification, never lost once it was accepted. */
export const mail = defineService({
  ...manifest,
  create(context, given) {
    const live = createLiveSettings(given, () => {
      routed = routingOf(settings);
      listener.limit(bounds(settings));
    });
    const settings = live.current;
    const { bus, clock, db, files, log } = context;
    const messages = new MessageStore(db);
    const sources = new Sources(db, files);
    const processed = countMails(context);
    const activity = new Activity(context, mailActivity);
    const reader = new MailReader(clock);
    let routed = routingOf(settings);
    const routing: Routing = {
      get mappings() {
        return routed.mappings;
      },
      get rules() {
        return routed.rules;
      },
      get topics() {
        return routed.topics;
      },
      get urls() {
        return routed.urls;
      },
    };
    const admission = new Admission(clock);
    const recognise = (): boolean => settings.recognise;
    const signIn = new SignIn(context.accounts, settings.logins);
    const topicMail = new TopicMail(context.accounts, routing.topics);
    const needsSignIn = settings.signIn === 'required';
    const incoming = { messages, sources, processed, activity, admission, topicMail, signIn, needsSignIn };
    const gateway = new Gateway({ context, routing, ...incoming });
    const deliveries = new Deliveries({ context, routing, sources, reader, processed, activity, admission, recognise });
    const { clients, tls, certificateFile, keyFile } = settings;
    const isInside = within(clients);
    const listener = new Listener(
      gateway,
      signIn,
      {
        mayConnect: (address) => isInside(address) || (clients.length === 0 && needsSignIn),
        signIn: settings.signIn,
        tokens: topicMail.enabled,
        tls,
        hostName: settings.hostName,
        ...bounds(settings),
        maxClients: settings.maxClients,
        idleMs: settings.idleSeconds * 1000,
      },
      clock,
      log,
    );
    const outcomes = mailOutcomes(context, settings, activity);
    const open = new DisposableStack();

    const clear = (): void => {
      clearSpool(messages, sources, clock.now() - settings.spoolDays * 24 * hourMs).catch((error: unknown) =>
        log.warn('the spool was not cleared', { error }),
      );
    };

    const encrypt = async (): Promise<void> => {
      if (tls !== 'off') listener.use(await readCertificate(certificateFile, keyFile));
    };

    return {
      api: [
        ...mailHandlers({ context, routing, gateway, messages, sources, reader, activity, outcomes }),
        ...setUpHandlers(routing, settings),
      ],
      importData(program, place) {
        if (program === 'mailrise') return takeOverMailrise(place, process.env);
        throw new Problem('mail.unknown_program', 404, `Mail takes over from mailrise only, not from ${program}.`);
      },
      tcp: (socket, leaving) => listener.accept(socket, leaving),
      async start() {
        await encrypt();
        await sources.open();
        gateway.lastAt = await messages.newest();
        open.use(activity);
        open.use(outcomes);
        open.use(bus.subscribe(mailActivity, outcomes.invalidate));
        open.use(
          bus.subscribe(jobsChanged, ({ service }) => {
            if (service !== manifest.id) return;
            outcomes.invalidate();
            activity.touch();
          }),
        );
        open.use(deliveries.start());
        open.use(clock.every(hourMs, clear));
        // Certificates are renewed in their files.
        open.use(
          clock.every(hourMs, () => {
            encrypt().catch((error: unknown) => log.warn('the certificate was not read anew', { error }));
          }),
        );
      },
      health(): Promise<Health> {
        const { lastAt } = gateway;
        const detail = lastAt === undefined ? 'No mail yet' : `Last mail ${ago(clock.now() - lastAt)}`;
        const begin = { label: 'Send a first mail', to: '/delivery/connect' };
        return Promise.resolve({ state: 'up', detail, ...(lastAt === undefined ? { begin } : {}) });
      },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        await listener.close();
        open.dispose();
      },
    };
  },
});
