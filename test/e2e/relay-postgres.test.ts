import { describeRelay } from '../support/describe-relay.ts';

describeRelay('PostgreSQL', () => Promise.resolve({ environment: {}, [Symbol.asyncDispose]: () => Promise.resolve() }));
