import * as m from '#messages/push';
import { everyTopic, webPushApi } from '../../../../../services/contracts/push/web-push.ts';
import { call, formatError } from '../../../api/call.ts';

const workerFile = '/service-worker.js';

/** Availability of web push in this browser. */
type WebPushState =
  | 'loading'
  /** Ready; `topics` are the subscribed ones. */
  | 'ready'
  /** The user denied notifications; only the browser's settings can change that. */
  | 'denied'
  /** The page was loaded over plain HTTP from another computer, where browsers do not offer web push. */
  | 'insecure'
  /** An iPhone or iPad, where web push is only available to pages on the home screen. */
  | 'home-screen'
  | 'unsupported'
  /** Disabled in the settings of the push service. */
  | 'off'
  | 'failed';

/** Web push to this browser while no page is open. */
class WebPush {
  state = $state<WebPushState>('loading');
  /** Topics that this browser is subscribed to. */
  topics = $state.raw<readonly string[]>([]);
  /** Error message for the user. */
  error = $state('');
  busy = $state(false);

  #isObserving = false;

  /** Loads the state without prompting the user. */
  async load(): Promise<void> {
    try {
      this.error = '';
      this.state = await this.#readState();
    } catch (error) {
      this.#setError(error);
    }
    await this.#observePermission();
  }

  /** True when all topics are subscribed, including future ones. */
  get all(): boolean {
    return this.topics.includes(everyTopic);
  }

  has(topic: string): boolean {
    return this.all || this.topics.includes(topic);
  }

  /**
   * Subscribes to a topic. It must be called from a click, because browsers prompt the user only then. Returns
   * whether the topic is subscribed.
   */
  async subscribe(topic: string): Promise<boolean> {
    return this.#run(async () => {
      if ((await Notification.requestPermission()) !== 'granted') {
        this.state = Notification.permission === 'denied' ? 'denied' : this.state;
        return false;
      }
      await this.#register(await this.#getSubscription(), [...new Set([...this.topics, topic])]);
      return true;
    });
  }

  /**
   * Unsubscribes from a topic and returns whether that succeeded. After the last topic the browser's subscription is
   * removed.
   */
  async unsubscribe(topic: string): Promise<boolean> {
    return this.#run(async () => {
      const remaining = this.topics.filter((each) => each !== topic);
      const subscription = await (await getRegistration())?.pushManager.getSubscription();
      if (subscription) await this.#register(subscription, remaining);
      if (remaining.length === 0) await subscription?.unsubscribe();
      this.topics = remaining;
      return true;
    });
  }

  /** The user may change the permission in the browser's settings. */
  async #observePermission(): Promise<void> {
    if (this.#isObserving || !('permissions' in navigator)) return;
    this.#isObserving = true;
    try {
      const status = await navigator.permissions.query({ name: 'notifications' });
      status.onchange = () => void this.load();
    } catch {
      // Without support for this event, the permission is read again when the page is opened.
    }
  }

  async #readState(): Promise<WebPushState> {
    if (!window.isSecureContext) return 'insecure';
    if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) {
      return isAppleHandheld() ? 'home-screen' : 'unsupported';
    }
    const { publicKey } = await call(webPushApi.key);
    if (publicKey === null) return 'off';
    if (Notification.permission === 'denied') return 'denied';
    const subscription = await (await getRegistration())?.pushManager.getSubscription();
    if (!subscription) return 'ready';
    this.topics = (await call(webPushApi.topicsOf, { body: { endpoint: subscription.endpoint } })).topics;
    // Renews the registration: the server removes browsers that have not been seen for long.
    if (this.topics.length > 0) await this.#register(subscription, this.topics);
    return 'ready';
  }

  async #getSubscription(): Promise<PushSubscription> {
    await navigator.serviceWorker.register(workerFile);
    const { pushManager } = await navigator.serviceWorker.ready;
    const { publicKey } = await call(webPushApi.key);
    if (publicKey === null) throw new Error(m.webPushIsDisabledInSettings());
    const existing = await pushManager.getSubscription();
    if (existing && isSameKey(existing.options.applicationServerKey, publicKey)) return existing;
    // The subscription belongs to the key of another installation and would not receive our messages.
    await existing?.unsubscribe();
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  }

  async #register(subscription: PushSubscription, topics: readonly string[]): Promise<void> {
    const { endpoint, keys } = subscription.toJSON();
    const [auth = '', p256dh = ''] = [keys?.['auth'], keys?.['p256dh']];
    await call(webPushApi.put, { body: { endpoint: endpoint ?? '', auth, p256dh, topics: [...topics] } });
    this.topics = topics;
  }

  async #run(work: () => Promise<boolean>): Promise<boolean> {
    this.busy = true;
    this.error = '';
    try {
      const succeeded = await work();
      if (succeeded) this.state = 'ready';
      return succeeded;
    } catch (error) {
      this.#setError(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  #setError(error: unknown): void {
    this.error = formatError(error);
    if (this.state === 'loading') this.state = 'failed';
  }
}

/** iPads identify as Macs, which have no touch screen. */
function isAppleHandheld(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iPhone|iPad|iPod/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1);
}

function getRegistration(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker.getRegistration(workerFile);
}

function isSameKey(key: ArrayBuffer | null, text: string): boolean {
  if (key === null) return false;
  const base64 = btoa(String.fromCharCode(...new Uint8Array(key)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === text;
}

export const webPush = new WebPush();
