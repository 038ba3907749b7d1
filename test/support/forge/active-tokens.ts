/** The parts of a text that make GitHub or its bots act. */
export const ACTIVE_TOKENS: readonly RegExp[] = [
  /(?<![A-Za-z0-9])@[a-z0-9]/i,
  /#\d+(?![A-Za-z0-9])/,
  /(?<![A-Za-z0-9])GH-\d/i,
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+https?:\/\/\S+\/(?:issues|pull)\/\d/i,
  /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i,
  /^skip-checks:\s*true/im,
  /^\/[a-z]+(?: |$)/im,
];
