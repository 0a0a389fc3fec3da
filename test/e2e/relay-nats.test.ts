import { describeRelay } from '../support/describe-relay.ts';
import { startNats } from '../support/nats-server.ts';

describeRelay('NATS', async () => {
  const server = await startNats();
  return { environment: { HOMEPORT_NATS_URL: server.url }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});
