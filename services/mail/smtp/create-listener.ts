import type { Context } from '../../contracts/service.ts';
import type { MailReceiver } from '../accept/mail-receiver.ts';
import type { SignIn } from '../accept/sign-in.ts';
import type { Settings } from '../settings.ts';
import { readCertificate } from './certificate.ts';
import { getListenerOptions } from './listener-options.ts';
import { Listener } from './listener.ts';

const hourMs = 3_600_000;

/** Creates the SMTP listener with the options of the settings. */
export function createListener(
  { accounts, clock, log }: Pick<Context, 'accounts' | 'clock' | 'log'>,
  settings: Readonly<Settings>,
  mailReceiver: MailReceiver,
  signIn: SignIn,
): Listener {
  const { hostName, tls } = settings;
  const options = {
    onBusy: (address: string) => accounts.record({ event: 'rate_limited', address, detail: 'SMTP connection' }),
    ...getListenerOptions(settings),
    tls,
    hostName,
  };
  return new Listener(mailReceiver, signIn, options, clock, log);
}

/** Loads the certificate, and reloads it every hour, because certificates are renewed by replacing their files. */
export async function startCertificateRenewal(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  settings: Readonly<Settings>,
  listener: Listener,
): Promise<Disposable> {
  const load = async (): Promise<void> => {
    const { tls, certificateFile, keyFile } = settings;
    if (tls !== 'off') listener.setCertificate(await readCertificate(certificateFile, keyFile));
  };
  await load();
  return clock.every(
    hourMs,
    () => void load().catch((error: unknown) => log.warn('certificate reload failed', { error })),
  );
}
