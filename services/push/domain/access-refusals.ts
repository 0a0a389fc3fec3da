const docsUrl = 'https://ntfy.sh/docs';
const limitations = `${docsUrl}/publish/#limitations`;

/** Refusals of ntfy about accounts, limits and web push. */
export const accessRefusals = {
  signup_off: { code: 40022, text: 'invalid request: signup not enabled', link: `${docsUrl}/config` },
  no_token: { code: 40023, text: 'invalid request: no token provided' },
  permission_invalid: { code: 40025, text: 'invalid request: incorrect permission string' },
  wrong_confirmation: { code: 40026, text: 'invalid request: password confirmation is not correct' },
  no_user: { code: 40031, text: 'invalid request: user does not exist' },
  web_push_malformed: { code: 40038, text: 'invalid request: web push payload malformed' },
  web_push_endpoint: { code: 40039, text: 'invalid request: web push endpoint unknown' },
  web_push_topics: { code: 40040, text: 'invalid request: too many web push topic subscriptions' },
  username_invalid: { code: 40046, text: 'invalid request: username invalid' },
  user_exists: { code: 40901, text: 'conflict: user already exists' },
  topic_taken: { code: 40902, text: 'conflict: access control entry for topic or topic pattern already exists' },
  subscription_exists: { code: 40903, text: 'conflict: topic subscription already exists' },
  user_provisioned: { code: 40905, text: 'conflict: cannot change or delete provisioned user' },
  token_provisioned: { code: 40906, text: 'conflict: cannot change or delete provisioned token' },
  too_many_emails: { code: 42902, text: 'limit reached: too many emails', link: limitations },
  too_many_requests: { code: 42901, text: 'limit reached: too many requests', link: limitations },
  too_many_topics: {
    code: 42904,
    text: 'limit reached: the total number of topics on the server has been reached, please contact the admin',
    link: limitations,
  },
  bandwidth_used_up: { code: 42905, text: 'limit reached: daily bandwidth reached', link: limitations },
  too_many_accounts: { code: 42906, text: 'limit reached: too many accounts created', link: limitations },
  too_many_messages: { code: 42908, text: 'limit reached: daily message quota reached', link: limitations },
  too_many_new_topics: { code: 42911, text: 'limit reached: too many new topics', link: limitations },
} as const;
