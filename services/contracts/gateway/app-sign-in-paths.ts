/** Paths of the gateway with which the app's pages offer the sign-in at an identity provider. */
export const appSignInPaths = {
  /** Label of the provider. */
  provider: '/.homeport/provider',
  /** Begins the sign-in at the provider; `to` is the path of the page to return to. */
  begin: '/.homeport/oidc',
  /** Hands the session to the app's page. */
  session: '/.homeport/app-session',
  /** Page of the app that takes the session over. */
  returnPage: '/sign-in/provider',
} as const;
