import * as m from '#messages/mail-problems';
import { eventsMissed } from '../contracts/bus.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import { Activity } from '../kit/activity.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { MailReceiver } from './accept/mail-receiver.ts';
import { SignIn } from './accept/sign-in.ts';
import { TopicMail } from './accept/topic-mail.ts';
import { mailHandlers } from './app-api/api.ts';
import { createMailOutcomes } from './app-api/outcomes.ts';
import { setupHandlers } from './app-api/setup.ts';
import { DeliveryBackoff } from './deliver/delivery-backoff.ts';
import { DeliveryWorker } from './deliver/delivery-worker.ts';
import { getHealth } from './health.ts';
import { importMailrise } from './import/mailrise.ts';
import { manifest } from './manifest.ts';
import { createMailCounter } from './metrics.ts';
import { MailReader } from './mime/reader.ts';
import { LiveRouting } from './routing/routing.ts';
import type { Settings } from './settings.ts';
import { createListener, startCertificateRenewal } from './smtp/create-listener.ts';
import { getListenerOptions } from './smtp/listener-options.ts';
import { MessageStore } from './store/messages.ts';
import { startRetention } from './store/retention.ts';
import { Sources } from './store/sources.ts';

/** SMTP gateway: converts mail to notifications; accepted mail is never lost. */
export const mail = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { accounts, blobs, bus, clock, db } = context;
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const processed = createMailCounter(context);
  const reader = new MailReader(clock);
  const deliveryBackoff = new DeliveryBackoff(clock);
  const signIn = new SignIn(accounts, () => settings.logins);
  const routing = new LiveRouting(settings);
  const messages = new MessageStore(db);
  const sources = new Sources(db, blobs);
  const activity = new Activity(context, mailActivity);
  const mailReceiver = new MailReceiver({
    context,
    routing,
    messages,
    sources,
    journal: { processed, activity },
    deliveryBackoff,
    topicMail: new TopicMail(accounts, () => routing.topics),
    authorization: { signIn, requiresSignIn: () => settings.signIn === 'required' },
  });
  const deliveryWorker = new DeliveryWorker({
    context,
    routing,
    messages,
    sources,
    reader,
    outcomes: { processed, activity },
    deliveryBackoff,
    recognize: () => settings.recognise,
  });
  const listener = createListener(context, settings, mailReceiver, signIn);
  const outcomes = createMailOutcomes(context, settings, activity);

  return {
    tcp: (socket, leaving) => listener.accept(socket, leaving),
    api: [
      ...mailHandlers({ context, routing, mailReceiver, messages, sources, reader, activity, outcomes }),
      ...setupHandlers(routing, settings),
    ],
    importData,
    async start() {
      const renewal = await startCertificateRenewal(context, settings, listener);
      resources.use(renewal);
      mailReceiver.lastReceivedAt = await messages.findNewestTime();
      resources.use(activity);
      resources.use(outcomes);
      resources.use(bus.subscribe(mailActivity, outcomes.invalidate));
      resources.use(bus.subscribe(eventsMissed, outcomes.invalidate));
      resources.use(
        bus.subscribe(jobsChanged, ({ service }) => {
          if (service !== manifest.id) return;
          outcomes.invalidate();
          activity.touch();
        }),
      );
      resources.use(deliveryWorker.start());
      resources.use(await context.leases.hold('retention', () => startRetention(context, settings, messages, sources)));
    },
    health: async () => getHealth(mailReceiver.lastReceivedAt, clock.now()),
    reconfigure: (next) =>
      live.update(next, () => {
        routing.update(settings);
        listener.reconfigure(getListenerOptions(settings));
      }),
    async [Symbol.asyncDispose]() {
      await listener.close();
      await resources.disposeAsync();
    },
  };
}

async function importData(program: string, path: string): Promise<ImportResult> {
  if (program === 'mailrise') return importMailrise(path, process.env);
  throw new Problem('mail.unknown_program', 404, m.unknownProgram({ program }));
}
