import { issueOf } from "../../api/problem.ts";
import { Field } from "../../components/field.tsx";

interface Props {
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly value: string;
  /** Of the last attempt. */
  readonly error: unknown;
  readonly onChange: (text: string) => void;
}

/** The login of a GitHub account. */
export const LoginField = ({ error, onChange, ...rest }: Props) => (
  <Field
    {...rest}
    maxLength={100}
    autoComplete="off"
    autoCapitalize="none"
    spellCheck={false}
    error={issueOf(error, "login")}
    onChange={(event) => onChange(event.target.value)}
  />
);

/** People also write `@ada`. */
export const loginIn = (text: string): string => text.trim().replace(/^@/, "");
