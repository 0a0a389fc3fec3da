import { isIP } from 'node:net';
import { z } from 'zod';

/** Returns true for an address or a network such as 192.168.1.0/24. */
function isNetwork(text: string): boolean {
  const [address = '', prefixLength, extra] = text.split('/');
  const family = isIP(address);
  if (family === 0 || extra !== undefined) return false;
  return (
    prefixLength === undefined || (/^\d{1,3}$/.test(prefixLength) && Number(prefixLength) <= (family === 4 ? 32 : 128))
  );
}

const Login = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(128)
    .default('mail')
    .meta({ title: 'Name', description: 'As the mail program gives it.' }),
  password: z
    .string()
    .min(1)
    .max(1024)
    .default('')
    .meta({ title: 'Password', description: 'For this mail gateway alone.', secret: true }),
});

/** Settings for clients, sign-in and encryption. */
export const accessFields = {
  clients: z
    .array(z.string().trim().refine(isNetwork, 'Use an address or a network such as 192.168.1.0/24.'))
    .max(200)
    .default([])
    .meta({
      live: true,
      title: 'Networks that may send',
      description:
        'Addresses or networks such as 192.168.1.0/24. Empty: this machine and private networks, and everywhere ' +
        'when a sign-in is required.',
    }),
  signIn: z
    .enum(['off', 'optional', 'required'])
    .default('off')
    .meta({
      live: true,
      title: 'Sign-in',
      description: 'By the logins below or an account that is granted writing to the recipient, such as mail alerts*.',
      choices: { off: 'Nobody signs in', optional: 'Who wants to', required: 'Everybody' },
    }),
  logins: z
    .array(Login)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { signIn: ['optional', 'required'] },
      title: 'Logins',
      description: 'For devices that have no account. They may send to every recipient.',
    }),
  tls: z
    .enum(['off', 'starttls', 'required', 'implicit'])
    .default('off')
    .meta({
      title: 'Encryption',
      description: 'Whether devices encrypt what they send.',
      choices: {
        off: 'None',
        starttls: 'Offered (STARTTLS), and needed for a sign-in',
        required: 'Needed (STARTTLS)',
        implicit: 'From the first byte on, as on port 465',
      },
    }),
  certificateFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      title: 'Certificate',
      description: 'A PEM file with the certificate and those it rests on.',
    }),
  keyFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      title: 'Key of the certificate',
      description: 'A PEM file.',
    }),
};
