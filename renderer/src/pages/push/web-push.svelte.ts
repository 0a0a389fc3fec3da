import { everyTopic, webPushApi } from '../../../../services/contracts/push/web-push.ts';
import { call, formatError } from '../../api/call.ts';

const workerFile = '/push-worker.js';

/** Why this browser shows no messages while its page is closed, or that it can. */
type WebPushState =
  | 'loading'
  /** Ready; `topics` are those it gets. */
  | 'ready'
  /** The person said no to notifications; only the browser's own settings can change that. */
  | 'denied'
  /** The page came over plain HTTP from another machine, where browsers offer none of it. */
  | 'insecure'
  /** An iPhone or iPad, which offers it only to pages on the home screen. */
  | 'home-screen'
  | 'unsupported'
  /** Switched off in the settings of the push service. */
  | 'off'
  | 'failed';

/** Messages to this browser while no page is open: the switch of a topic. */
class WebPush {
  state = $state<WebPushState>('loading');
  /** Topics this browser gets. */
  topics = $state.raw<readonly string[]>([]);
  /** A sentence for the person after a failure. */
  error = $state('');
  busy = $state(false);

  #watching = false;

  /** Looks at how things stand; asks the person nothing. */
  async load(): Promise<void> {
    try {
      this.error = '';
      this.state = await this.#look();
    } catch (error) {
      this.#fail(error);
    }
    await this.#watch();
  }

  /** All topics come here, also those that are not there yet. */
  get all(): boolean {
    return this.topics.includes(everyTopic);
  }

  has(topic: string): boolean {
    return this.all || this.topics.includes(topic);
  }

  /** Call it from a click: browsers ask the person only then. Answers whether this browser gets the topic now. */
  async subscribe(topic: string): Promise<boolean> {
    return this.#work(async () => {
      if ((await Notification.requestPermission()) !== 'granted') {
        this.state = Notification.permission === 'denied' ? 'denied' : this.state;
        return false;
      }
      await this.#put(await this.#subscription(), [...new Set([...this.topics, topic])]);
      return true;
    });
  }

  /** Answers whether this browser gets the topic no more. After the last topic the browser's subscription ends. */
  async unsubscribe(topic: string): Promise<boolean> {
    return this.#work(async () => {
      const rest = this.topics.filter((each) => each !== topic);
      const subscription = await (await registered())?.pushManager.getSubscription();
      if (subscription) await this.#put(subscription, rest);
      if (rest.length === 0) await subscription?.unsubscribe();
      this.topics = rest;
      return true;
    });
  }

  /** The person may change the permission beside the page. */
  async #watch(): Promise<void> {
    if (this.#watching || !('permissions' in navigator)) return;
    this.#watching = true;
    try {
      const status = await navigator.permissions.query({ name: 'notifications' });
      status.onchange = () => void this.load();
    } catch {
      // A browser that does not tell is asked again when the page is opened anew.
    }
  }

  async #look(): Promise<WebPushState> {
    if (!window.isSecureContext) return 'insecure';
    if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) {
      return isAppleHandheld() ? 'home-screen' : 'unsupported';
    }
    const { publicKey } = await call(webPushApi.key);
    if (publicKey === null) return 'off';
    if (Notification.permission === 'denied') return 'denied';
    const subscription = await (await registered())?.pushManager.getSubscription();
    if (!subscription) return 'ready';
    this.topics = (await call(webPushApi.topicsOf, { body: { endpoint: subscription.endpoint } })).topics;
    // The server forgets a browser that it has not heard of for long.
    if (this.topics.length > 0) await this.#put(subscription, this.topics);
    return 'ready';
  }

  async #subscription(): Promise<PushSubscription> {
    await navigator.serviceWorker.register(workerFile);
    const { pushManager } = await navigator.serviceWorker.ready;
    const { publicKey } = await call(webPushApi.key);
    if (publicKey === null) throw new Error('Messages in browsers are switched off in the settings.');
    const known = await pushManager.getSubscription();
    if (known && sameKey(known.options.applicationServerKey, publicKey)) return known;
    // Bound to the key of another installation: nothing of ours would arrive.
    await known?.unsubscribe();
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  }

  async #put(subscription: PushSubscription, topics: readonly string[]): Promise<void> {
    const { endpoint, keys } = subscription.toJSON();
    const [auth = '', p256dh = ''] = [keys?.['auth'], keys?.['p256dh']];
    await call(webPushApi.put, { body: { endpoint: endpoint ?? '', auth, p256dh, topics: [...topics] } });
    this.topics = topics;
  }

  async #work(work: () => Promise<boolean>): Promise<boolean> {
    this.busy = true;
    this.error = '';
    try {
      const done = await work();
      if (done) this.state = 'ready';
      return done;
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  #fail(error: unknown): void {
    this.error = formatError(error);
    if (this.state === 'loading') this.state = 'failed';
  }
}

/** iPads say that they are Macs, which have no touch screen. */
function isAppleHandheld(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iPhone|iPad|iPod/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1);
}

function registered(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker.getRegistration(workerFile);
}

function sameKey(key: ArrayBuffer | null, text: string): boolean {
  if (key === null) return false;
  const base64 = btoa(String.fromCharCode(...new Uint8Array(key)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === text;
}

export const webPush = new WebPush();
