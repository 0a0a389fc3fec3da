import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface Taken {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly source: Buffer;
}

/** Mail server that stores received mails; `refuse` is the reply to each recipient instead. */
export async function openMailServer(options: { refuse?: number; password?: string } = {}) {
  const mails: Taken[] = [];
  const server = new SMTPServer({
    authOptional: options.password === undefined,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth(auth, _session, done) {
      if (auth.password === options.password) done(null, { user: auth.username });
      else done(Object.assign(new Error('Wrong password hunter2'), { responseCode: 535 }));
    },
    onRcptTo(_address, _session, done) {
      if (options.refuse === undefined) done();
      else done(Object.assign(new Error('No such mailbox'), { responseCode: options.refuse }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, user: session.user, source: Buffer.concat(chunks) });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    taken: mails,
    port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
