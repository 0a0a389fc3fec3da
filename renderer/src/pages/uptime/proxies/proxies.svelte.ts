import { formatProxyAddress, proxiesApi, type Proxy } from '../../../../../services/contracts/uptime/proxies.ts';
import { call } from '../../../api/call.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** Proxy in its form, with all inputs as text. */
interface ProxyDraft {
  name: string;
  protocol: Proxy['protocol'];
  host: string;
  port: string;
  username: string;
  password: string;
  active: boolean;
  default: boolean;
}

/** Proxies that monitors may use. */
class Proxies extends Loadable {
  items = $state.raw<readonly Proxy[]>([]);

  load(): Promise<boolean> {
    return this.readLatest(
      () => call(proxiesApi.list),
      ({ items }) => (this.items = items),
    );
  }

  /** Adds a proxy, or replaces the one with an ID. An empty password keeps the stored one. @throws Problem */
  async save(draft: ProxyDraft, id: number | undefined): Promise<number> {
    const { password, ...fields } = draft;
    const auth = draft.username.trim() !== '';
    const body = {
      ...fields,
      auth,
      username: draft.username.trim(),
      port: Number(draft.port),
      ...(password === '' && auth ? {} : { password: auth ? password : null }),
    };
    const saved =
      id === undefined
        ? await call(proxiesApi.add, { body })
        : await call(proxiesApi.replace, { params: { id: String(id) }, body });
    await this.load();
    return saved.id;
  }

  /** @throws Problem */
  async remove(id: number): Promise<void> {
    await call(proxiesApi.remove, { params: { id: String(id) } });
    await this.load();
  }
}

export const proxies = new Proxies();

export function toProxyDraft(proxy: Proxy | undefined): ProxyDraft {
  if (proxy === undefined)
    return {
      name: '',
      protocol: 'http',
      host: '',
      port: '',
      username: '',
      password: '',
      active: true,
      default: false,
    };
  const { name, protocol, host, port, auth, username, active } = proxy;
  return {
    ...{ name, protocol, host, active, default: proxy.default },
    port: String(port),
    username: auth ? username : '',
    password: '',
  };
}

export function getProxyTitle(proxy: Proxy): string {
  return proxy.name === '' ? formatProxyAddress(proxy) : proxy.name;
}
