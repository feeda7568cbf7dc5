"""The golden answers: what a real driver answered, and which answers it varies between.

    {"driver": …, "device": …, "date": …, "groups": {group: {"runs": n, "answers": {question: answer or [answers]}}}}
"""
import json
import pathlib

# Stands for a question that was not reached in a run.
ABSENT = "(not asked)"


def allowed(transcripts):
    """Question → set of its answers, over all transcripts of a group."""
    questions = {}
    for answers in transcripts:
        for question, _ in answers:
            questions.setdefault(question, set())
    for answers in transcripts:
        given = dict(answers)
        for question, seen in questions.items():
            seen.add(given.get(question, ABSENT))
    return questions


def as_json_answer(answers):
    return next(iter(answers)) if len(answers) == 1 else sorted(answers)


def make(machine, heard):
    groups = {}
    for group, transcripts in heard.items():
        questions = allowed(transcripts)
        groups[group] = {"runs": sum(transcripts.values()), "answers": {q: as_json_answer(a) for q, a in questions.items()}}
    return {**machine, "groups": groups}


def set_of(answer):
    return set(answer) if isinstance(answer, list) else {answer}


def merge(first, second):
    """The golden of both recordings; where both asked a group whose questions are the same, their answers add up."""
    merged = {**first, **second, "groups": dict(first["groups"])}
    for group, new in second["groups"].items():
        old = first["groups"].get(group)
        if old and list(old["answers"]) == list(new["answers"]):
            merged["groups"][group] = {"runs": old["runs"] + new["runs"], "answers": {
                q: as_json_answer(set_of(a) | set_of(old["answers"][q])) for q, a in new["answers"].items()}}
        else:
            merged["groups"][group] = new
    return merged


def text(value, depth=0):
    """JSON with a line a question, so that a change of one answer is a change of one line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    pad = " " * (depth + 1)
    lines = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {text(item, depth + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}" if lines else "{}"


def write(path, golden):
    pathlib.Path(path).write_text(text(golden) + "\n", encoding="utf-8")


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
