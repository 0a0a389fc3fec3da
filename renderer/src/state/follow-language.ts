import type { ApiRoute } from '../../../services/contracts/api.ts';
import { call, type CallOptions } from '../api/call.ts';
import { live } from './live.svelte.ts';

/**
 * Requests the reply of a route again whenever the language changes and the latest one contains texts of the host. A
 * failure leaves the earlier texts. Returns a function that stops it; a reply that arrives afterwards is not shown.
 */
export function followLanguage<Query, Body, Reply>(
  route: ApiRoute<Query, Body, Reply>,
  options: CallOptions<Query, Body>,
  show: (reply: Reply) => void,
): () => void {
  let isStopped = false;
  const unsubscribe = live.onLanguageChange([route], () => {
    call(route, options).then(
      (reply) => {
        if (!isStopped) show(reply);
      },
      () => undefined,
    );
  });
  return () => {
    isStopped = true;
    unsubscribe();
  };
}
